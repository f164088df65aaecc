"""The fixtures themselves: each kind of fault is seen."""

import pytest
from playwright.async_api import expect

POLICED = "/explorer/THIRD-PARTY-LICENCES.txt"  # small, with a Content-Security-Policy
# Scripts that cause a fault each.
ABSENT = "fetch('absent.js').then(() => null)"
INLINE = "document.body.append(Object.assign(document.createElement('script'), {textContent: '0'}))"
IMAGE = "document.body.append(Object.assign(new Image(), {src: '//elsewhere/'}))"


@pytest.mark.parametrize(
    ("script", "faults_seen"),
    [
        ("console.error('logged')", ["console error: logged"]),
        ("console.warn('logged')", ["console warning: logged"]),
        ("setTimeout(() => { throw new Error('thrown') })", ["uncaught: thrown"]),
        ("Promise.reject(new Error('rejected')) && null", ["uncaught: rejected"]),
        (ABSENT, ["console error: Failed to load resource: .* 404"]),
        (INLINE, ["violates the following Content Security Policy"]),
        (IMAGE, ["request to another host: http://elsewhere/", "request failed: GET", "violates"]),
    ],
    ids=["error", "warning", "exception", "rejection", "absent file", "inline script", "other host"],
)
async def test_fault_in_a_page_is_seen(page, faults, script, faults_seen):
    await page.goto(POLICED)

    await page.evaluate(script)

    for fault in faults_seen:
        await faults.expect(fault)


async def test_axe_finds_faults_in_spite_of_the_policy(page, axe):
    await page.goto(POLICED)
    await page.evaluate("document.body.replaceChildren(document.createElement('img'), document.createElement('input'))")

    found = await axe(page)

    assert {line.partition(":")[0] for line in found} >= {"image-alt", "label"}


async def test_member_is_logged_in_before_the_first_page(visit, site):
    member = site.member("alice")
    page = await visit(member)

    await page.goto("/")

    await expect(page.get_by_role("banner")).to_contain_text(member.username)
