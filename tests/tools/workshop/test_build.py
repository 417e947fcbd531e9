"""The workshop as a folder: all that is promised, and nothing of anybody else's lost."""

import re

from tools.collection import paths
from tools.workshop import build


def test_the_workshop_is_written_in_one_folder(tmp_path, capsys):
    build.main(["--out", str(tmp_path / "kit")])
    written = {path.name for path in (tmp_path / "kit" / "notebooks").iterdir()}
    assert written == {path.name for path in paths()}
    slides = tmp_path / "kit" / "slides"
    assert (slides / "reveal" / "dist" / "reveal.js").is_file()
    for page in slides.glob("*.html"):
        for used in re.findall(r'"(reveal/[^"]+)"', page.read_text()):
            assert (slides / used).is_file()


def test_a_folder_of_somebody_s_slides_is_left_alone(tmp_path, capsys):
    (tmp_path / "slides").mkdir()
    (tmp_path / "slides" / "talk.html").write_text("mine")
    assert build.main(["--out", str(tmp_path)]) == 1
    assert (tmp_path / "slides" / "talk.html").exists()
    assert "holds something else" in capsys.readouterr().err
