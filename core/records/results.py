"""Results in the words of many programs: `B+R`, `White wins`, `1-0`, `黑胜`, `白中押し勝ち`, `½-½`."""

import re
import unicodedata

from core.records.record import Ending
from core.rules import BLACK, WHITE, Colour

_UNKNOWN = re.compile(
    r"[?*-]+|void|no ?result|unknown|unfinished|suspended|adjourned|aborted|cancell?ed|n/?a|none|in progress|ongoing"
    r"|未知|未完|未终局|未終局|打ち掛け|打挂|打掛|中断|封棋|无胜负|無勝負|無効|无效|미상|미정|무효"
)
"""Words that say that there is no result; the board does not overrule them."""
_DRAW = re.compile(
    r"0|0\.5 ?[-:] ?0\.5|1/2( ?[-:] ?1/2)?|0 ?[-:] ?0|(draw|drawn|tie|tied|jigo)\b.*|rem[ií][sz]a?|empate"
    r"|null?e?|match nul|patta|unentschieden|ничья|持碁|引き?分け?|和棋?|平[局手]?|和局|무승부|비김|무"
)
_BLACK = r"black|b(?![a-z])|黑|黒|先手|흑|ч[её]рны[ейх]|schwarz|noirs?|negras?|čern[ýí]|cern[yi]|first player"
_WHITE = r"white|w(?![a-z])|白|[后後]手|백|белы[ейх]|wei(?:ss|ß)|blancs?|blanc[ao]s?|bíl[ýí]|bil[yi]|second player"
_WON = re.compile(
    rf"[^黑黒흑白백先后後]{{0,8}}?(?<![a-z])(?:(?P<black>{_BLACK})|(?P<white>{_WHITE}))(?:方|番|棋|子|player|이|가|の|\s)*(?P<how>.*)"
)
_SCORES = {"1-0": BLACK, "1:0": BLACK, "0-1": WHITE, "0:1": WHITE}
_WINS = re.compile(r"[+:]|win|won\b|.*(胜|勝|승)|победил|выигр|gewinnt|gagn|gan[oóa]|v[yý]hr|$")
_LOSES = re.compile(
    r"los[et]|resign|forfeit|time[ds]? ?out|on time|проигр|сда|.*(认输|認輸|負|负|投了|投子|패|기권|超时|超時|切れ)"
)
_ENDINGS = (
    (Ending.RESIGNATION, re.compile(r"\+ ?r\b|\+ ?res|resign|中押|中盘|中盤|投了|投子|认输|認輸|불계|기권|сда")),
    (Ending.TIME, re.compile(r"\+ ?t\b|time|on time|超时|超時|时间|時間|切れ|시간|врем")),
    (Ending.FORFEIT, re.compile(r"\+ ?f\b|forfeit|illegal|foul|crash|disconnect|犯规|禁手|反則|반칙|弃权|棄権|掉线")),
)


def parse_result(text: str) -> tuple[Colour | None, Ending] | None:
    """Return the winner and the ending that a result says; None for an empty one and for words that are not known.

    A result that says itself that it is none (`?`, `Void`) is `Ending.UNKNOWN`.
    """
    words = " ".join(unicodedata.normalize("NFKC", text).replace("\u2044", "/").lower().split()).strip(" .!。")
    if not words:
        return None
    if _UNKNOWN.fullmatch(words):
        return None, Ending.UNKNOWN
    if _DRAW.fullmatch(words):
        return None, Ending.BOARD
    if words in _SCORES:
        return _SCORES[words], Ending.BOARD
    match = _WON.fullmatch(words)
    if match is None:
        return None
    side, how = BLACK if match["black"] else WHITE, match["how"]
    ending = next((each for each, word in _ENDINGS if word.search(how)), Ending.BOARD)
    if _WINS.match(how):
        return side, ending
    return (-side, ending) if _LOSES.match(how) else None
