"""The page in a browser: what a reader clicks, types and prints does what it says."""

import re
import shutil

import pytest

pytest.importorskip("playwright.sync_api", reason="no Playwright here: make setup installs it where Chromium is")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from playwright.sync_api import expect, sync_playwright

from repro.site.report import build

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: apt install chromium)")
TABLE2 = "#fu2014-table2"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(whole)
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light", accept_downloads=True)
    page, page_errors, loaded = context.new_page(), [], []
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(address)
    page.wait_for_selector("html[data-figures=drawn]")
    yield page
    assert page_errors == []
    assert [url for url in loaded if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def shown(page, selector, name="id"):
    """Return an attribute of the elements that can be seen."""
    return page.eval_on_selector_all(
        selector,
        "(all, name) => all.filter((each) => each.checkVisibility()).map((each) => each.getAttribute(name))",
        name,
    )


def opened(page):
    """Wait until the artefact is open: a link opens it after the click, once the address has changed."""
    expect(page.locator(TABLE2)).to_have_attribute("open", "")


def artefacts(page):
    return shown(page, "details.artefact")


def test_filters_by_paper_machine_back_end_and_state(page):
    everything = artefacts(page)
    assert len(everything) >= 52
    page.get_by_label("Filters of tables and figures").get_by_label("Paper").select_option("zhang2013")
    assert len(artefacts(page)) == 10 and all(each.startswith("zhang2013") for each in artefacts(page))
    assert page.locator("#count").inner_text() == f"10 of {len(everything)} shown"
    assert page.locator("#count").get_attribute("aria-live") == "polite"
    assert page.locator("section.paper:visible").count() == 1
    page.locator("#filters").get_by_role("button", name="Reset").click()
    expect(page.locator("#count")).to_have_text(f"{len(everything)} of {len(everything)} shown")
    assert artefacts(page) == everything
    page.select_option("#filters [name=machine]", "laptop")
    assert artefacts(page) == ["fu2014-table2", "zhang2013-figure8"]
    page.select_option("#filters [name=backend]", "cuda")  # the laptop has none
    assert artefacts(page) == [] and page.locator("#none").is_visible()
    page.select_option("#filters [name=machine]", "")
    assert artefacts(page) == ["fu2014-table2"]
    page.select_option("#filters [name=backend]", "")
    page.select_option("#filters [name=state]", "smaller")
    assert artefacts(page) == ["zhang2013-figure8"]
    assert shown(page, "li.tile", "data-artefact") == ["zhang2013-figure8"]


def panels(page, artefact=TABLE2):
    return shown(page, f"{artefact} section.panel", "data-panel")


def test_a_tile_opens_its_artefact_and_two_machines_stand_side_by_side(page):
    page.click(f"li.tile a[href='{TABLE2}']")
    opened(page)
    assert panels(page) == ["big-gpu-fu2014-table2"]
    assert page.locator(f"{TABLE2} figure img:visible").count() == 1
    assert page.eval_on_selector_all("figure img", "all => all.every((each) => each.naturalWidth > 0)")
    page.locator(f"{TABLE2} select.second").select_option("laptop-fu2014-table2")
    assert panels(page) == ["big-gpu-fu2014-table2", "laptop-fu2014-table2"]
    left, right = (each.bounding_box() for each in page.locator(f"{TABLE2} section.panel:visible").all())
    assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 2


def test_a_download_is_the_file_itself(page, results):
    page.click(f"li.tile a[href='{TABLE2}']")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV of Table 2 on big-gpu, scale paper").click()
    assert waiting.value.suggested_filename == "big-gpu-fu2014-table2.csv"
    with open(waiting.value.path(), "rb") as stream:
        assert stream.read() == (results / "big-gpu/fu2014/table2.csv").read_bytes()


def test_two_results_stand_on_one_axis_with_their_ratio(page):
    page.goto(f"{page.url}{TABLE2}")
    opened(page)
    room = page.locator(f"{TABLE2} .together")
    assert not room.is_visible()
    page.locator(f"{TABLE2} select.second").select_option("laptop-fu2014-table2")
    expect(room.locator("tbody tr")).to_have_count(2)  # two meshes; the laptop has one of the methods
    ratios = room.locator("tbody td:last-child").all_inner_texts()
    assert [float(each) for each in ratios] == [50, 50]
    expect(room.locator(".axis .mark-symbol.role-mark path")).to_have_count(4)


def test_tables_are_sorted_by_a_heading(page):
    page.goto(f"{page.url}{TABLE2}")
    page.locator(f"{TABLE2} select.second").select_option("laptop-fu2014-table2")
    head = page.locator(f"{TABLE2} .together th").nth(3)
    head.click()
    column = page.locator(f"{TABLE2} .together tbody td:nth-child(4)")
    first = [float(each.split()[0]) for each in column.all_inner_texts()]
    head.click()
    second = [float(each.split()[0]) for each in column.all_inner_texts()]
    assert first == sorted(first) and second == first[::-1] and first[0] != first[1]
    assert head.get_attribute("aria-sort") == "descending"


def focused(page):
    return page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")


def test_the_keyboard_reaches_everything(page):
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.locator("#filters [name=paper]").focus()
    order = ["paper"]
    for _ in range(6):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.name || document.activeElement.type"))
    assert order == ["paper", "machine", "beside", "backend", "state", "words", "reset"]
    page.locator("#filters [name=paper]").focus()
    page.keyboard.type("fu2014")
    expect(page.locator("#count")).to_contain_text("10 of")
    page.locator(f"li.tile a[href='{TABLE2}']").focus()
    page.keyboard.press("Enter")
    opened(page)
    expect(page.locator(f"{TABLE2} > summary")).to_be_focused()
    page.keyboard.press("Enter")  # a second closes it
    expect(page.locator(TABLE2)).not_to_have_attribute("open", "")
    outline = page.locator(f"{TABLE2} > summary").evaluate("each => getComputedStyle(each).outlineStyle")
    assert outline == "solid"


def test_the_ledger_is_filtered(page):
    page.select_option("#ledger-filters [name=paper]", "fu2014")
    rows = page.locator("details.claim:visible")
    assert set(shown(page, "details.claim", "data-paper")) == {"fu2014"}
    assert page.locator("#ledger-count").inner_text().startswith(f"{rows.count()} of ")
    page.select_option("#ledger-filters [name=state]", "not decided")
    states = shown(page, "details.claim", "data-state")
    assert len(states) == rows.count() > 0 and set(states) == {"not decided"}
    page.fill("#ledger-filters [name=words]", "PATCHES assembly")
    assert 0 < rows.count() < len(states)


def test_the_roofline_shows_values_where_one_points(page):
    page.wait_for_selector("#plot[data-drawn='8']")  # two cases, two methods, two scales
    marks = page.locator("#plot .mark-symbol.role-mark path")
    assert marks.count() == 8 and page.locator("#plot .mark-line path").count() == 2
    marks.first.scroll_into_view_if_needed()
    box = marks.first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    values = " ".join(tip.inner_text().split())
    for word in ("fu2014-table2", "GFLOP/s", "GB/s", "FLOP/B", "of the bound", "%"):
        assert word in values
    right = page.locator("#plot svg").bounding_box()
    frame = page.locator(".frame").bounding_box()
    assert right["x"] + right["width"] <= frame["x"] + frame["width"]
    page.select_option("#roofline-filters [name=device]", "laptop, A laptop")
    page.wait_for_selector("#plot[data-drawn='4']")
    assert page.locator("#roofline-count").inner_text() == "4 timed products, solves and parts of them"
    page.click("#roofline-table summary")
    expect(page.locator("#roofline-table tbody tr")).to_have_count(4)  # filled once it has opened
    expect(page.locator("#roofline-table th")).to_have_count(9)


def test_a_phone_needs_no_sideways_scrolling(browser, address):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(address)
    page.wait_for_selector("html[data-figures=drawn]")
    page.click("#unfold")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


def test_print_has_everything_open_and_no_controls(page, tmp_path):
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.artefact:not([open])").count() == 0
    assert not page.locator("#filters").is_visible() and not page.locator(f"{TABLE2} .downloads").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.artefact[open]").count() == 0
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    printed = (tmp_path / "page.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 5


def test_without_scripts_the_answers_and_claims_are_there(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    said = page.locator("main").inner_text()
    assert "Do the claims hold?" in said and "their tables and figures are packed" in said.lower()
    page.click("details.claim > summary >> nth=0")
    assert page.locator("details.claim[open] .prose").is_visible()
    context.close()


def test_a_page_without_any_result_works(browser, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "report.html").write_text(build(tmp_path / "results"))
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-figures=drawn]")
    page.select_option("#filters [name=state]", "measured")
    assert artefacts(page) == [] and page.locator("#none").is_visible()
    page.click("#theme")
    assert page.get_by_text("No stored time says what work it did.").is_visible()
    assert errors == []
    page.close()
