/** One character of the picture, in pixels; the font's own width is stretched to it. */
const COLUMN = 7.8;
const LINE = 17;
const MARGIN = 16;
const FONT_SIZE = 13;

/** Readable on the light and on the dark page: the picture has a background of its own. */
const STYLES = `
text { font: ${FONT_SIZE}px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; fill: #d4d8de; }
.frame { fill: #16191d; stroke: #3b4048; }
.bold { font-weight: bold; fill: #f4f6f8; }
.dim { fill: #8b929c; }
.red { fill: #ff7b72; }
.yellow { fill: #e3b341; }
.green { fill: #56d364; }
`;

const CLASSES: Readonly<Record<string, string>> = {
  '1': 'bold',
  '2': 'dim',
  '31': 'red',
  '32': 'green',
  '33': 'yellow',
};
/** What each code of a terminal ends. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  '22': ['bold', 'dim'],
  '39': ['red', 'green', 'yellow'],
};

/** A terminal's screen, with its colours, as a picture that needs nothing else. */
export function svgOf(command: string, screen: string): string {
  const lines = [`\x1b[2m$\x1b[22m ${command}`, ...screen.trimEnd().split('\n')];
  const columns = Math.max(...lines.map((line) => plainText(line).length));
  const width = Math.ceil(columns * COLUMN + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="the output of ${command}">`,
    `<style>${STYLES}</style>`,
    `<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...lines.flatMap((line, row) => texts(line, MARGIN + (row + 0.8) * LINE)),
    '</svg>',
    '',
  ].join('\n');
}

function texts(line: string, y: number): readonly string[] {
  const styles = new Set<string>();
  const made: string[] = [];
  let column = 0;
  // "\x1b[1mACTIVE\x1b[22m  " is codes and the texts between them, one after another.
  for (const [index, part] of line.split(CODE).entries()) {
    if (index % 2 === 1) turn(styles, part);
    else {
      // Each word stands where it would stand in a terminal, whatever font there is.
      for (const { 0: word, index: at } of part.matchAll(/\S+(?: \S+)*/g)) {
        const x = (MARGIN + (column + at) * COLUMN).toFixed(1);
        const length = (word.length * COLUMN).toFixed(1);
        const style = styles.size > 0 ? ` class="${[...styles].join(' ')}"` : '';
        made.push(
          `<text x="${x}" y="${y.toFixed(1)}" textLength="${length}"${style}>${escaped(word)}</text>`,
        );
      }
      column += part.length;
    }
  }
  return made;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's codes begin with one.
const CODE = /\x1b\[(\d+)m/;

function turn(styles: Set<string>, code: string): void {
  const begun = CLASSES[code];
  if (begun) styles.add(begun);
  for (const ended of ENDS[code] ?? []) styles.delete(ended);
}

function plainText(line: string): string {
  return line
    .split(CODE)
    .filter((_, index) => index % 2 === 0)
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
