import { describe, expect, test } from "vitest";
import { judgeDocument } from "../../src/documents/judge.js";
import { archive, docx, ODT, odt } from "../support/documents.js";

describe("the text of a document", () => {
  test("an .odt's paragraphs, with their spaces, tabs and breaks", async () => {
    const content = `<text:h>A title</text:h><text:p>two<text:s text:c="2"/>spaces<text:tab/>and <text:span>a</text:span><text:line-break/>break &amp; more</text:p><text:p/>`;
    expect(await judgeDocument(odt(content), "odt")).toEqual({
      valid: true,
      faults: [],
      text: "A title\ntwo  spaces\tand a\nbreak & more\n",
    });
  });

  test("a .docx's runs, and nothing of its properties", async () => {
    const body = `<w:p><w:pPr><w:x>no text</w:x></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t xml:space="preserve"> two</w:t></w:r></w:p><w:p/>`;
    expect(await judgeDocument(docx(body), "docx")).toMatchObject({ valid: true, text: "one\t two\n" });
  });

  test("a space repeated without end is one space", async () => {
    const verdict = await judgeDocument(odt(`<text:p>a<text:s text:c="999999999"/>b</text:p>`), "odt");
    expect(verdict.text).toBe("a b");
  });
});

describe("a document that is not whole says why", () => {
  const good = odt("<text:p>hello</text:p>");
  test.each<[string, Buffer, RegExp]>([
    ["no archive", Buffer.from("dear reader"), /no zip archive/],
    ["nothing", Buffer.alloc(0), /no zip archive/],
    ["cut short", good.subarray(0, good.length - 40), /no zip archive/],
    ["without its manifest", odt("", { without: "META-INF/manifest.xml" }), /manifest.xml is missing/],
    ["without its content", odt("", { without: "content.xml" }), /content.xml is missing/],
    [
      "another type",
      odt("", { mimetype: { name: "mimetype", text: "text/plain", stored: true } }),
      /mimetype/,
    ],
    [
      "a compressed mimetype",
      odt("", { mimetype: { name: "mimetype", text: ODT } }),
      /uncompressed mimetype/,
    ],
    ["broken XML", odt("<text:p>"), /content.xml is not well-formed/],
    ["an unknown entity", odt("<text:p>&boom;</text:p>"), /not well-formed/],
    ["a name that leads out", archive([{ name: "../../etc/passwd", text: "x" }]), /no zip archive/],
  ])("%s", async (_, bytes, says) => {
    const verdict = await judgeDocument(bytes, "odt");
    expect(verdict).toMatchObject({ valid: false, text: "" });
    expect(verdict.faults).toContainEqual(expect.stringMatching(says));
  });

  test("a changed byte is met by its CRC", async () => {
    const bytes = odt("", { mimetype: { name: "mimetype", text: ODT, stored: true } });
    const at = bytes.indexOf(ODT);
    bytes.write("X", at);
    expect((await judgeDocument(bytes, "odt")).faults).toEqual([
      expect.stringMatching(/mimetype does not have the CRC/),
    ]);
  });

  test("one that unpacks to more than is allowed is refused by the sizes that it names itself", async () => {
    const bomb = odt(`<text:p>${" ".repeat(70 * 1024 * 1024)}</text:p>`);
    expect(bomb.length).toBeLessThan(200_000);
    expect((await judgeDocument(bomb, "odt")).faults).toEqual([
      expect.stringMatching(/unpacks to more than/),
    ]);
  });

  test("entities that multiply themselves are not followed", async () => {
    const laughs = `<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><d xmlns:text="t"><text:p>&b;</text:p></d>`;
    const parts = [
      { name: "mimetype", text: ODT, stored: true },
      { name: "content.xml", text: laughs },
      ...["styles.xml", "meta.xml", "META-INF/manifest.xml"].map((name) => ({ name, text: "<a/>" })),
    ];
    expect(await judgeDocument(archive(parts), "odt")).toMatchObject({ valid: false });
  });
});
