"""Updates of the screen that write the changed cells alone."""

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate


class CroppedUpdate(ChopsUpdate):
    """Textual's update, which writes each changed line from the left edge of its widget on.

    Over a slow line that costs more than the change; a board of pictures would draw half of them anew at each key.
    """

    def render_segments(self, console: Console) -> str:
        """Return the text for the terminal."""
        texts = []
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(x, first), min(end, last)
                if strip is not None and left < right:
                    texts += [Control.move_to(left, y).segment.text, strip.crop(left - x, right - x).render(console)]
        return "".join(texts)
