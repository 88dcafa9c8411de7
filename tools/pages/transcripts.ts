import { chooseFindings } from '../../src/hosts/cli/recovery/choose-findings.ts';
import { totalsText } from '../../src/hosts/cli/recovery/recovery-totals.ts';
import { showPlan } from '../../src/hosts/cli/screens/show-plan.ts';
import { showReport } from '../../src/hosts/cli/screens/show-report.ts';
import type { Terminal } from '../../src/lib/terminal/terminal.ts';
import { judgeFaults } from '../../src/node/checkup/judge-faults.ts';
import { makeReport } from '../../src/node/checkup/make-report.ts';
import { nodeFacts } from '../../src/node/checkup/node-facts.ts';
import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import { faults } from '../../src/node/faults/index.ts';
import { RecordedNode } from '../../src/node/recording/recorded-node.ts';
import { fixtureAt } from '../../test/fault-fixtures.ts';

/** The screen that a page shows; a fault's page is itself shown in a terminal, with a margin. */
const COLUMNS = 80;
const MARGIN = 6;

// <!-- transcript: kubediag check | stale-subpath-mount/broken-configmap -->
// <!-- end of transcript -->
const TRANSCRIPT =
  /(<!-- transcript: kubediag ([^|]+) \| (\S+) -->\n)[\s\S]*?(<!-- end of transcript -->)/g;

/**
 * A page with what each marked command prints to standard output on the fixture that the mark names. The text between the marks is replaced; a page without marks stays as it is.
 */
export async function withTranscripts(path: string, text: string): Promise<string> {
  const isIndented = path.startsWith('src/node/faults/');
  const marks = [...text.matchAll(/<!-- (transcript:|end of transcript)/g)].length;
  if (marks !== 2 * [...text.matchAll(TRANSCRIPT)].length) {
    throw new Error(`${path}: a mark of a transcript has no other end, or is written wrongly`);
  }
  let result = '';
  let at = 0;
  for (const match of text.matchAll(TRANSCRIPT)) {
    const [whole, opening = '', command = '', fixture = '', closing = ''] = match;
    const screen = await screenOfCommand(command, fixture, COLUMNS - (isIndented ? MARGIN : 0));
    const lines = `$ kubediag ${command}\n${screen}`.trimEnd().split('\n');
    const shown = lines.map((line) => line.trimEnd());
    const block = isIndented
      ? `\n${shown.map((line) => (line ? `    ${line}` : '')).join('\n')}\n\n`
      : `\n\`\`\`console\n${shown.join('\n')}\n\`\`\`\n\n`;
    result += text.slice(at, match.index) + opening + block + closing;
    at = match.index + whole.length;
  }
  return result + text.slice(at);
}

async function screenOfCommand(command: string, fixture: string, width: number): Promise<string> {
  const { report, judged } = await judgedFixture(fixture);
  const { terminal, shown } = paper(width);
  const [verb, name, ...options] = command.split(' ');
  if (verb === 'check' && options.length === 0) {
    // A recorded node has answers for the faults that it was recorded for, and not for others.
    const asked = report.faults.filter((fault) => name === undefined || fault.name === name);
    await showReport({ ...report, faults: asked }, undefined, terminal);
  } else if (verb === 'recover' && options.join(' ') === '--dry-run') {
    const one = judged.filter(({ fault }) => fault.id === name);
    const [first] = one;
    if (!first) throw new Error(`${command}: there is no such fault`);
    const chosen = chooseFindings(first.fault, { report, judged: one }, {});
    if ('nothing' in chosen) throw new Error(`${command} on ${fixture}: ${chosen.nothing}`);
    showPlan({ fault: first.fault, findings: chosen.taken }, { report, judged }, terminal);
    // A recorded node cannot be repaired, so this is what is printed when nothing objects.
    const totals = { repaired: chosen.taken.length, refused: 0, failed: 0, left: 0 };
    terminal.out(totalsText(totals, true));
  } else {
    throw new Error(`no transcript can be made of: kubediag ${command}`);
  }
  return shown();
}

/** A fixture, judged as `kubediag replay` does it. */
async function judgedFixture(fixture: string) {
  const { recording, settings, tookMs } = await fixtureAt(fixture);
  const snapshot = takeSnapshot(new RecordedNode(recording), settings);
  const judged = await judgeFaults(faults, snapshot);
  return { judged, report: makeReport({ ...(await nodeFacts(snapshot)), tookMs }, judged) };
}

/** A terminal that collects standard output, without colour. */
function paper(width: number): { readonly terminal: Terminal; readonly shown: () => string } {
  const written: string[] = [];
  const terminal: Terminal = {
    out: (text) => void written.push(text),
    err: () => {},
    width,
    errWidth: width,
    isInteractive: false,
    isOutTerminal: false,
    style: (_, text) => text,
    progress: () => {},
    hint: () => {},
    detail: () => {},
    ask: async () => '',
    confirm: async () => false,
  };
  return { terminal, shown: () => written.join('') };
}
