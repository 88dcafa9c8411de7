import { withoutDenials } from '../../src/hosts/cli/screens/headline.ts';
import { screenOf } from '../../src/hosts/cli/screens/screen.ts';
import type { Style, Terminal } from '../../src/lib/terminal/terminal.ts';
import { judgeFaults } from '../../src/node/checkup/judge-faults.ts';
import { makeReport } from '../../src/node/checkup/make-report.ts';
import { nodeFacts } from '../../src/node/checkup/node-facts.ts';
import type { Report } from '../../src/node/checkup/report.ts';
import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import { faults } from '../../src/node/faults/index.ts';
import type { Bundle } from '../../src/node/recording/bundle.ts';
import { RecordingNode } from '../../src/node/recording/recorded-node.ts';
import { PICTURE, SCENES, type Scene } from './scenes.ts';
import { svgOf } from './svg.ts';

const FOLDER = 'docs/screens';
const WIDTHS = [80, 120] as const;
/** Of the picture: the width of a page of text. */
const PICTURE_WIDTH = 100;

/** The screens of `kubediag check`, by the paths of their files. */
export async function renderScreens(): Promise<ReadonlyMap<string, string>> {
  const created = new Map<string, string>();
  for (const scene of SCENES) {
    const { report: whole } = await checked(scene);
    const report = withoutDenials(whole, scene.isRoot ?? true);
    for (const width of WIDTHS) {
      const path = `${FOLDER}/${scene.name}-${width}`;
      created.set(`${path}.txt`, screenOf(report, paper(width, plain), false));
      created.set(`${path}.ansi`, screenOf(report, paper(width, coloured), false));
    }
  }
  const { report } = await checked(PICTURE);
  const picture = screenOf(report, paper(PICTURE_WIDTH, coloured), false);
  created.set(`${FOLDER}/check.svg`, svgOf('kubediag check', picture));
  return created;
}

/** The list of the screens. */
export function screensPage(): string {
  const rows = SCENES.map(({ name, title }) => {
    const links = WIDTHS.flatMap((width) =>
      ['txt', 'ansi'].map((kind) => `[${width} ${kind}](${name}-${width}.${kind})`),
    );
    return `| ${title} | ${links.join(' ')} |`;
  });
  return [
    '# Screens of `kubediag check`',
    '',
    'What a person sees on a terminal of 80 and of 120 columns, without colour (`txt`) and with it',
    '(`ansi`; to see it: `cat docs/screens/healthy-80.ansi`). The nodes are made up, in',
    '`tools/screens/scenes.ts`.',
    '',
    '| node | screens |',
    '|---|---|',
    ...rows,
    '',
    '![kubediag check on a node with one finding](check.svg)',
    '',
  ].join('\n');
}

/** A check of the node of a scene, with all that was asked for it. */
export async function checked({ node, tookMs }: Scene): Promise<{
  readonly report: Report;
  readonly bundle: Bundle;
}> {
  const recorder = new RecordingNode(node());
  const snapshot = takeSnapshot(recorder);
  const judged = await judgeFaults(faults, snapshot);
  const report = makeReport({ ...(await nodeFacts(snapshot)), tookMs }, judged);
  return {
    report,
    bundle: { recording: recorder.recording, madeBy: 'by hand', tookMs, settings: {} },
  };
}

type Painter = Terminal['style'];

const plain: Painter = (_, text) => text;

/** As a terminal gets it. */
const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
};

const coloured: Painter = (style, text) => {
  const [begin, end] = CODES[style];
  return `\x1b[${begin}m${text}\x1b[${end}m`;
};

/** As much of a terminal as a screen wants to know. */
function paper(width: number, style: Painter): Terminal {
  return { width, style } as Terminal;
}
