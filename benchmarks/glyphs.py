"""A real stream of 50 tasks of 20 classes: a thousand kanji in 71 fonts, as a tree of pictures.

``python -m benchmarks.glyphs DIR`` writes ``DIR/food1k/Train/<class>/<font>.png``, the layout of
Food1k, so that the same code reads it. The fonts have open licences (OFL or Apache) and come from
the packages ``@fontsource/…`` of the npm index, at fixed versions; ``npm pack`` fetches them, once,
into ``--packages``. Fonts and characters are the fixed list in ``glyphs.json``: fonts of Japanese
with at least 2900 kanji, up to three weights each (lightest, regular, heaviest), without families
that draw the same kanji as another one; of the kanji that all of them have, 1000 at random.
"""

import argparse
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

LIST = Path(__file__).with_name("glyphs.json")
PIXELS = 32
_EDGE = 2  # pixels that stay empty around a character
_LARGE = 96  # points: characters are drawn so large and then made smaller


def characters() -> list[str]:
    """The thousand classes, task after task."""
    tasks = json.loads(LIST.read_text(encoding="utf-8"))["tasks"]
    return [character for task in tasks for character in task]


def fonts() -> dict[str, list[int]]:
    """Package and version → weights."""
    found: dict[str, list[int]] = json.loads(LIST.read_text(encoding="utf-8"))["fonts"]
    return found


def fetched(package: str, folder: Path) -> Path:
    """The package's archive; fetched if it is not there."""
    name, _, version = package.partition("@")
    archive = folder / f"fontsource-{name}-{version}.tgz"
    if not archive.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", f"@fontsource/{package}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return archive


def glyphs(archive: Path, weight: int, wanted: set[str]) -> Iterator[tuple[str, Image.Image]]:
    """Each wanted character in that weight. A font is cut into many files of some characters."""
    part = re.compile(rf"package/files/.+-\d+-{weight}-normal\.woff")
    with tarfile.open(archive) as package:
        for member in package:
            if not part.fullmatch(member.name):
                continue
            file = package.extractfile(member)
            assert file is not None, member.name
            content = file.read()
            known = TTFont(io.BytesIO(content), lazy=True).getBestCmap()
            here = sorted(character for character in wanted if ord(character) in known)
            if here:
                font = ImageFont.truetype(io.BytesIO(content), _LARGE)
                yield from ((character, picture(character, font)) for character in here)


def picture(character: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    """Black on white, as large as fits, in the middle."""
    canvas = Image.new("L", (2 * _LARGE, 2 * _LARGE), 255)
    ImageDraw.Draw(canvas).text((_LARGE, _LARGE), character, fill=0, font=font, anchor="mm")
    box = Image.eval(canvas, lambda value: 255 - value).getbbox()
    if box is None:
        raise ValueError(f"{character} is empty in {font.getname()}.")
    cut = canvas.crop(box)
    scale = (PIXELS - 2 * _EDGE) / max(cut.size)
    size = (max(1, round(cut.width * scale)), max(1, round(cut.height * scale)))
    small = cut.resize(size, Image.Resampling.BOX)
    paper = Image.new("L", (PIXELS, PIXELS), 255)
    paper.paste(small, ((PIXELS - size[0]) // 2, (PIXELS - size[1]) // 2))
    return paper


def write_tree(folder: Path, packages: Path) -> int:
    """All pictures; returns how many."""
    classes = {character: number for number, character in enumerate(characters())}
    train = folder / "food1k" / "Train"
    for number in classes.values():
        (train / str(number)).mkdir(parents=True, exist_ok=True)
    written = 0
    for package, weights in fonts().items():
        archive = fetched(package, packages)
        name = package.partition("@")[0]
        for weight in weights:
            drawn = 0
            for character, image in glyphs(archive, weight, set(classes)):
                image.save(train / str(classes[character]) / f"{name}-{weight}.png")
                drawn += 1
            if drawn != len(classes):
                raise ValueError(f"{name} {weight} has {drawn} of {len(classes)} characters.")
            written += drawn
        print(f"{name}: {', '.join(map(str, weights))}", flush=True)
    return written


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--packages", type=Path, help="of fonts; default: DIR/packages")
    given = parser.parse_args()
    packages = given.packages or given.folder / "packages"
    print(f"{write_tree(given.folder, packages)} pictures.")


if __name__ == "__main__":
    main()
