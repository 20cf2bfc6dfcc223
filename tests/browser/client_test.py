"""usage: client_test.py CLIENT_FOLDER   the page and its library in headless Chromium, with a gateway and decoders that are faked
(fakes.js): what a server does seldom, such as losing workers and connections
"""

import json
import pathlib
import re
import sys
import time

from needs_selenium import needs

needs("chromium", "chromedriver")

from faked_page import DISCONTINUITY, KEY, PICTURE, READY, SOUND, VIDEO, check, faked_page  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

MOST_BUFFERED = 65536

# Gives the page a sound file of so many seconds of silence.
CHOOSE_FILE = """
const bytes = 32000 * arguments[0], view = new DataView(new ArrayBuffer(44 + bytes));
const text = (at, letters) => [...letters].forEach((one, i) => view.setUint8(at + i, one.charCodeAt(0)));
text(0, "RIFF"); view.setUint32(4, 36 + bytes, true); text(8, "WAVEfmt "); view.setUint32(16, 16, true);
view.setUint16(20, 1, true); view.setUint16(22, 1, true); view.setUint32(24, 16000, true); view.setUint32(28, 32000, true);
view.setUint16(32, 2, true); view.setUint16(34, 16, true); text(36, "data"); view.setUint32(40, bytes, true);
const all = new DataTransfer(), input = document.getElementById("file");
all.items.add(new File([view.buffer], "silence.wav", { type: "audio/wav" }));
input.files = all.files;
input.dispatchEvent(new Event("change"));
"""


def keeps_its_button(page, first, second):
    """Whether the veil's button has the focus still when the server tells of more."""
    page.tell(first)
    page.run("window.kept = document.querySelector('#veil button'); window.kept.focus()")
    page.tell(second)
    check(page.run("return document.activeElement === window.kept && window.kept.isConnected"), f"the veil was made anew: {second}")


def waits(page):
    keeps_its_button(page, {"type": "queue.update", "position": 2, "eta_s": 40}, {"type": "queue.update", "position": 1, "eta_s": 20})
    check(page.text("#veil .place") == "1" and "You are next" in page.text("#veil"), f"the place is old: {page.text('#veil')}")
    check(page.text("#eta") == "Nine of ten wait less than 20 seconds", f"the time is old: {page.text('#eta')}")
    page.tell({"type": "queue.update", "position": None, "eta_s": None})
    check("You are in the queue" in page.text("#veil") and page.text("#veil .place") == "", page.text("#veil"))
    keeps_its_button(page, {"type": "session.preparing", "done": 0, "total": 0}, {"type": "session.preparing", "done": 1, "total": 2})
    check(page.run("return document.querySelector('#veil progress').value") == 0.5, "the progress is old")


def type_text(page, text):
    """As if it was pasted, and Enter."""
    page.run("const one = document.getElementById('text'); one.value = arguments[0]; one.dispatchEvent(new Event('input'))", text)
    page.find("#text").send_keys(Keys.ENTER)


def sent_texts(page):
    return page.run("return fakes.sockets.at(-1).sent.filter((one) => one.type === 'input.text').map((one) => one.text)")


def sends_long_texts_in_pieces(page):
    """1500 Chinese characters: 4500 bytes, more than a control frame may have."""
    sentence = "\u4eca\u5929\u5929\u6c14\u5f88\u597d\uff0c\u6211\u4eec\u53bb\u516c\u56ed\u3002"
    text = sentence * 115
    type_text(page, text)
    pieces = sent_texts(page)
    check(len(pieces) > 1 and "".join(pieces) == text, f"{len(pieces)} pieces with {len(''.join(pieces))} characters of {len(text)}")
    check(all(piece.endswith("\u3002") for piece in pieces), f"a sentence was cut: {[piece[-3:] for piece in pieces]}")
    check(all(len(piece.encode()) < 3900 for piece in pieces), f"{[len(piece.encode()) for piece in pieces]} bytes")
    check(page.run("return document.getElementById('text').value") == "", "the text stands in the field still")
    check(page.states() == ["waiting"], f"one text is one line of the log: {page.states()}")


def refuses_a_text_beyond_the_bound(page):
    before = len(sent_texts(page))
    type_text(page, "x" * 100001)
    check("too long" in page.text("#composer-hint") and "100,000" in page.text("#composer-hint"), page.text("#composer-hint"))
    check(len(page.run("return document.getElementById('text').value")) == 100001, "the text is gone")
    check(len(sent_texts(page)) == before, "it was sent")
    type_text(page, "Shorter.")
    check(sent_texts(page)[-1] == "Shorter." and page.text("#composer-hint") == "", page.text("#composer-hint"))


# Texts and what cuts none of their pieces.
CUTS = """
const [done] = arguments;
import("/client/navtalk/texts.js").then(({ textPieces }) => {
  const texts = {
    sentences: "This is one. Is it? ".repeat(300),
    words: "word ".repeat(2000),
    unbroken: "x".repeat(5000),
    families: String.fromCodePoint(0x1f468, 0x200d, 0x1f469, 0x200d, 0x1f467).repeat(400),
    accents: ("e" + String.fromCodePoint(0x301)).repeat(2000),
    quotes: `"${'\\n'.repeat(3000)}" she said. `.repeat(3),
    marks: "a" + String.fromCodePoint(0x301).repeat(3000),
    blank: " ".repeat(5000),
    short: " as it is ",
  };
  done(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text, pieces: textPieces(text) }])));
}, (error) => done(String(error)));
"""


def cuts_texts_where_nobody_hears_it(page):
    cut = page.driver.execute_async_script(CUTS)
    for name, one in cut.items():
        frames = [json.dumps({"type": "input.text", "text": piece}, ensure_ascii=False).encode() for piece in one["pieces"]]
        check(all(len(frame) <= 4096 for frame in frames), f"{name}: {[len(frame) for frame in frames]} bytes")
        if name not in ("marks", "quotes"):
            check("".join("".join(one["pieces"]).split()) == "".join(one["text"].split()), f"{name}: something is missing")
    check(all(piece.endswith((".", "?")) for piece in cut["sentences"]["pieces"]), "a sentence was cut")
    check(all(piece.endswith("word") for piece in cut["words"]["pieces"]), "a word was cut")
    check(len(cut["unbroken"]["pieces"]) == 3, f"{len(cut['unbroken']['pieces'])} pieces of one word")
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    check(all(piece.replace(family, "") == "" for piece in cut["families"]["pieces"]), "a character was cut")
    check(all(piece[0] == "e" and piece[-1] == "\u0301" for piece in cut["accents"]["pieces"]), "an accent lost its letter")
    check(cut["blank"]["pieces"] == [""] and cut["short"]["pieces"] == [" as it is "], f"{cut['blank']} {cut['short']}")


def changes_worker(page):
    """While no GPU is free, and the lost one spoke and played an action."""
    page.tell({"type": "speech.started", "pts_us": 0})
    page.tell({"type": "action.started", "name": "wave", "pts_us": 0})
    page.wait("the avatar speaks", page.speaks)
    page.wait("the action is seen", lambda: page.all("#actions button[data-seen]"))
    check(page.find("#subtitle").is_displayed(), "what is spoken is not shown")
    page.tell({"type": "queue.update", "position": 1, "eta_s": None})
    page.shows("The connection to the avatar's computer was lost")
    check(not page.find("#subtitle").is_displayed(), "what the lost worker spoke lies over it")
    check("Another one takes over" in page.text("#veil") and "You are next" not in page.text("#veil"), page.text("#veil"))
    page.tell({"type": "queue.update", "position": 2, "eta_s": 30})
    check("You are number 2" in page.text("#eta") and "less than 30 seconds" in page.text("#eta"), page.text("#eta"))
    check(not page.run("return document.querySelector('#actions button').disabled === false"), "an action can be asked for")
    page.tell({"type": "worker.changed", "gap_s": 2, "video": {**VIDEO, "width": 48}, "audio": READY["audio"]})
    check(not page.covered(), f"the queue is shown still: {page.text('#veil')}")
    check(page.text("#status") == "Live", page.text("#status"))
    check(not page.speaks(), "the avatar speaks still")
    check(not page.all("#actions button[data-seen]"), "the action is seen still")
    check(page.run("return document.getElementById('canvas').width") == 48, "the canvas has the size of the lost worker's pictures")
    page.sees_picture(7)
    page.say("Once more.")
    check(page.sent()[-1] == "input.text", f"the text was not sent: {page.sent()}")
    page.tell({"type": "worker.changed", "gap_s": 1, "video": VIDEO, "audio": READY["audio"]})
    check(set(page.states()) == {"lost"}, f"the text was lost with the worker: {page.states()}")


def counts_down_a_drain(page):
    """A GPU or the gateway goes out of service; the session may go on all the same."""
    def left():
        return int("".join(filter(str.isdigit, page.text("#drain"))) or -1)
    page.tell({"type": "session.draining", "notice_s": 300, "resume_token": "9f86"})
    check(290 < left() <= 300, f"the drain is not shown: {page.text('#drain')}")
    told = page.text("#drain") + page.run("return document.getElementById('announce').textContent")
    check("restart" not in told and "out of service" in told, f"one GPU that drains is no restart: {told}")
    page.tell({"type": "quality", "fps": 20, "reason": "overload"})
    check(re.fullmatch(r"Live, \d+ fps", page.text("#status")) and left() > 0, f"{page.text('#status')}; {page.text('#drain')}")
    before = left()
    page.wait("it is counted down", lambda: 0 < left() < before)
    page.tell({"type": "worker.changed", "gap_s": 1, "video": VIDEO, "audio": READY["audio"]})
    check(not page.find("#drain").is_displayed(), "the drain of the lost worker is shown still")
    page.tell({"type": "session.draining", "notice_s": 300, "resume_token": "9f86"})
    check(left() > 290, f"the second drain is not shown: {page.text('#drain')}")
    page.tell({"type": "session.undrained"})
    check(not page.find("#drain").is_displayed(), "a drain that was undone is shown still")
    told = page.run("return document.getElementById('announce').textContent")
    check("stays in service" in told, f"an undone drain is not announced: {told}")
    page.tell({"type": "session.draining", "notice_s": 1, "resume_token": "9f86"})
    page.wait("its time is over", lambda: "ends now" in page.text("#drain"))
    page.wait("the session goes on without it", lambda: not page.find("#drain").is_displayed())


def explains_every_error(page, protocol):
    """Each code of the table of live sessions in docs/protocol.md, instead of the message of the protocol."""
    table = protocol.read_text().split("| `code` | meaning | the connection |\n")[1].split("\n\n")[0]
    codes = {code for line in table.splitlines() for code in re.findall(r"`(\w+)`", line.split("|")[1].split(", in answer to")[0])}
    check({"resume_failed", "usage", "failed"} <= codes, f"these are not all codes: {codes}")
    texts = page.driver.execute_async_script(
        "const [codes, done] = arguments; import('/client/page/errors.js').then(({ explain }) =>"
        "done(Object.fromEntries(codes.map((code) => [code, explain({ code, message: 'as sent' }).text]))))", sorted(codes))
    raw = [code for code, text in texts.items() if text == "as sent"]
    check(not raw, f"no words for users of {raw}")


def is_silent_when_interrupted(page):
    page.find("#text").send_keys(Keys.ESCAPE)
    check(page.sent()[-1] == "interrupt", f"{page.sent()}")
    page.media(SOUND)
    page.run("fakes.posted = []")
    page.tell({"type": "interrupted", "pts_us": 0})
    check("clear" in page.run("return fakes.posted"), "sound that was under way is played")


def interrupts_a_file(page):
    page.switch("full", True)
    page.run(CHOOSE_FILE, 20)
    page.wait("the file is being sent", lambda: page.sent_sound() > MOST_BUFFERED)
    page.say("And then a text.")
    time.sleep(0.1)
    check(page.sent_sound() < 1.2 * MOST_BUFFERED, f"{page.sent_sound()} bytes wait before an interrupt")
    check(page.sent()[-1] == "sound", "the text is within the file")
    page.find("#text").send_keys(Keys.ESCAPE)
    check(page.sent()[-1] == "interrupt", f"{page.sent()[-3:]}")
    page.run("fakes.full = false; fakes.sockets.at(-1).bufferedAmount = 0")
    time.sleep(0.1)
    check(page.sent()[-1] == "interrupt", f"after the interrupt: {page.sent()[-3:]}")


def sends_a_text_behind_a_file(page):
    page.switch("full", True)
    before = page.sent_sound()
    page.run(CHOOSE_FILE, 3)
    page.wait("the file is being sent", lambda: page.sent_sound() > before + MOST_BUFFERED)
    page.say("And then a text.")
    page.run("fakes.full = false; fakes.sockets.at(-1).bufferedAmount = 0")
    page.wait("all is sent", lambda: page.sent()[-3:] == ["sound", "input.end", "input.text"])
    check(page.sent_sound() - before == 3 * 32000, f"{page.sent_sound() - before} bytes of the file")


def resumes_after_a_harmless_error(page):
    page.tell({"type": "error", "code": "usage", "message": "no such thing"})
    page.media(SOUND)
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(2)
    check(page.run("return fakes.sockets.at(-1).sent[0].resume_token") == "9f86", "the session is not resumed")
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")


def resumes_when_others_leave_room(page, sockets):
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(sockets)
    page.tell({"type": "error", "code": "tenant_limit", "message": "as many as it may", "retry_after": 10})
    page.run("fakes.sockets.at(-1).cut()")
    page.connected(sockets + 1)
    check(page.run("return fakes.sockets.at(-1).sent[0].resume_token") == "9f86", "the session is not resumed")
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")


def gives_up_connections_that_hang(page, sockets):
    page.switch("hang", True)
    page.run("fakes.sockets.at(-1).cut()")
    page.wait("the page reconnects", lambda: page.count("sockets") == sockets)
    page.run("fakes.skewMs += 6000")
    page.wait("a connection that hangs is given up for another one", lambda: page.count("sockets") == sockets + 1)
    page.run("fakes.skewMs += 30000")
    page.shows("The connection was lost")
    page.switch("hang", False)


def resumes_when_nothing_comes(page, sockets):
    """The close frame of a client that means to come back: the gateway may read it later."""
    page.run("fakes.silent = true; fakes.skewMs += 13000")
    page.connected(sockets)
    page.switch("silent", False)
    check(page.run("return fakes.sockets.at(-2).closed") == 4000, f"closed with {page.run('return fakes.sockets.at(-2).closed')}")
    page.tell(READY)
    page.wait("the session goes on", lambda: page.text("#status") == "Live")


def begins_again(page, sockets):
    page.find("#veil button.primary").click()
    page.connected(sockets)
    page.tell(READY)
    page.wait("the session is live", lambda: page.text("#status") == "Live")


def press_microphone(page):
    ActionChains(page.driver).click_and_hold(page.find("#mic")).perform()


def release_microphone(page):
    ActionChains(page.driver).release().perform()


def leaves_no_microphone_open(page):
    page.switch("noCapture", True)
    press_microphone(page)
    page.wait("the user is told", lambda: "could not be opened" in page.text("#voice-hint"))
    release_microphone(page)
    check(page.run("return fakes.streams[0].getTracks()[0].readyState") == "ended", "the microphone is open still")
    page.switch("noCapture", False)


def opens_a_microphone_for_each_session(page, sockets):
    page.run("fakes.permission = new Promise((done) => { window.permit = done; })")
    press_microphone(page)
    page.wait("the microphone is asked for", lambda: page.count("streams") == 2)
    release_microphone(page)
    page.find("#leave").click()
    page.choose("ada")
    page.connected(sockets)
    page.run("window.permit()")
    page.wait("the microphone of the session before is closed",
              lambda: page.run("return fakes.streams[1].getTracks()[0].readyState") == "ended")
    check(page.text("#voice-hint") == "", f"the session before tells this one: {page.text('#voice-hint')}")
    page.tell(READY)
    press_microphone(page)
    page.wait("the microphone is asked for again", lambda: page.count("streams") == 3)
    page.wait("it is heard", lambda: "sound" in page.sent())
    release_microphone(page)


def ends_where_nothing_can_be_decoded(page):
    before = page.count("decoders")
    page.run("fakes.refuse = true; fakes.decoders.at(-1).fail()")
    page.shows("This browser cannot play H.264 video")
    check(page.sent()[-1] == "session.end", f"the gateway was not told: {page.sent()[-1]}")
    check(page.count("decoders") == before + 2, f"{page.count('decoders') - before} more decoders")
    check(page.run("return fakes.decoders.at(-1).config.hardwareAcceleration") == "prefer-software", "software was not tried")


def recovers_from_single_errors(page, sequence):
    for number in range(4):
        page.run("fakes.decoders.at(-1).fail()")
        check(page.sent()[-1] == "keyframe", f"{page.sent()[-1]}")
        page.sees_picture(sequence + number)


def has_an_example_without_errors(page):
    page.driver.get(page.run("return location.origin") + "/client/example.html")
    page.wait("the example is loaded", lambda: page.run("return document.readyState") == "complete")


def main():
    with faked_page(pathlib.Path(sys.argv[1])) as page:
        page.choose("ada")
        page.connected(1)
        waits(page)
        page.tell(READY)
        page.sees_picture(1)
        sends_long_texts_in_pieces(page)
        refuses_a_text_beyond_the_bound(page)
        cuts_texts_where_nobody_hears_it(page)
        changes_worker(page)
        counts_down_a_drain(page)
        explains_every_error(page, pathlib.Path(sys.argv[1]).parent / "docs/protocol.md")
        recovers_from_single_errors(page, 20)
        is_silent_when_interrupted(page)
        interrupts_a_file(page)
        sends_a_text_behind_a_file(page)
        resumes_after_a_harmless_error(page)
        resumes_when_others_leave_room(page, 3)
        resumes_when_nothing_comes(page, 5)
        gives_up_connections_that_hang(page, 6)
        begins_again(page, 8)
        leaves_no_microphone_open(page)
        opens_a_microphone_for_each_session(page, 9)
        ends_where_nothing_can_be_decoded(page)
        has_an_example_without_errors(page)
        check(page.problems() == [], f"the console has errors: {page.problems()}")


main()
