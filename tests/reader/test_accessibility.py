"""
axe-core finds nothing on any page, in both themes, on a phone and on a desktop, for visitors and for members.

`scene` is a conversation between members that puts something on every page. A fault of a page, such as an error in its
console, fails a test unless `faults` expects or ignores it.
"""

import pytest

from tests.reader.conftest import DESKTOP, PHONE, opened
from tests.reader.scene import PAGES


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("viewer", ["visitor", "member"])
async def test_page_is_accessible(visit, scene, axe, faults, name, viewer):
    page = await visit(scene.alice if viewer == "member" else None, reduced_motion="reduce")
    await opened(page, scene.path(name))

    found = []
    for theme in ("light", "dark"):
        for viewport in (DESKTOP, PHONE):
            await page.emulate_media(color_scheme=theme)
            await page.set_viewport_size(viewport)
            found += [f"{theme}, {viewport['width']}: {line}" for line in await axe(page)]

    faults.ignore("status of (404|410)")
    assert "\n".join(found) == ""
