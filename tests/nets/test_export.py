"""Exported nets answer as their models do, in every program that runs them."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.rules import Rules
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import save_model
from nets.config import NetConfig, Planes
from nets.dual import DualNet, make_model
from nets.export import ExportFormat, check_export, export_net, random_planes, write_export
from tests.support.commands import Capsys, refused, run
from tests.support.nets import LINES
from tests.support.project import ROOT

RULES = Rules(9, 5)
NETS = {
    "tower": NetConfig.tower(4, 1, planes=Planes.FIVE, dual=False),
    "lines": replace(LINES, batch_norm=False),
}


def model_of(kind: str) -> DualNet:
    return make_model(NETS[kind], RULES, seed=3).eval()


@pytest.mark.parametrize("kind", NETS)
def test_an_exported_net_is_the_model(kind: str) -> None:
    model = model_of(kind)
    for name in model.nets:
        planes = random_planes(model, name, 64, seed=1)
        with torch.inference_mode():
            for ours, exported in zip(model.nets[name](planes), export_net(model, name)(planes), strict=True):
                torch.testing.assert_close(exported, ours, atol=1e-5, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", NETS)
@pytest.mark.parametrize("form", [ExportFormat.ONNX, ExportFormat.TORCHSCRIPT])
def test_other_programs_answer_the_same(kind: str, form: ExportFormat, tmp_path: Path) -> None:
    if form is ExportFormat.ONNX:
        pytest.importorskip("onnxruntime")
    model = model_of(kind)
    name = next(iter(model.nets))
    write_export(model, name, tmp_path / "net", form)
    found = check_export(model, name, tmp_path / "net", form, 200)
    assert len(found) >= 1
    for each in found:
        assert max(each.prior, each.value) < 1e-4, each


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_the_command_writes_a_file_a_net(capsys: Capsys) -> None:
    pytest.importorskip("onnxruntime")
    save_model(Path("small.safetensors"), model_of("tower"), {})
    code, out, _ = run(capsys, "export", "small.safetensors", "--check", 20, "--json")
    assert code == 0
    (file,) = json.loads(out)["files"]
    assert (file["file"], file["board_size"], file["planes"]) == ("small.onnx", 9, Planes.FIVE)
    code, out, _ = run(
        capsys, "export", "small.safetensors", "--format", "safetensors", "--output", "plain.safetensors"
    )
    assert code == 0
    assert "positions" in out
    again = ("small.safetensors", "--format", "safetensors", "--output", "plain.safetensors", "--check", "0")
    assert "plain.safetensors exists; --force overwrites it" in refused(capsys, ExitCode.USAGE, "export", *again)
    assert run(capsys, "export", *again, "--force")[0] == 0
    same = ("small.safetensors", "--format", "safetensors", "--output", "small.safetensors")
    assert "is the model itself" in refused(capsys, ExitCode.USAGE, "export", *same)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_the_example_of_the_documents_plays(capsys: Capsys) -> None:
    pytest.importorskip("onnxruntime")
    assert run(capsys, "export", "default", "--check", "0")[0] == 0
    assert sorted(os.listdir()) == ["default.onnx"]
    block = re.search(r"^```py\n(.*?)^```$", (ROOT / "docs" / "export.md").read_text(), re.MULTILINE | re.DOTALL)
    exec(compile(block[1], "docs/export.md", "exec"), {})
    moves = capsys.readouterr().out.split()
    assert len(set(moves)) == 9
    assert moves[0] == "h8"
