import { expect, test } from 'vitest';
import { type Break, caseName } from '../break.ts';
import { breaks } from '../breaks/index.ts';
import type { Ran } from '../enter.ts';
import type { Snapshot } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { runCase } from './run-case.ts';

const UID = '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c01';
const AT_REST = ['process kubelet', `pod practice/web-0 ${UID} ready`];
const PODS = [{ name: 'practice/web-0', uid: UID }];
const seen = (lines: readonly string[]): Snapshot => ({ lines, pods: PODS, hasServedMount: false });
const CODES = { clear: 0, found: 1, unknown: 2 } as const;

interface FaultReported {
  readonly name: string;
  readonly verdict: keyof typeof CODES;
  readonly findings: readonly object[];
}

/** The faulty behaviour of a program on a node. Without a field it behaves correctly. */
interface Product {
  readonly check?: (honest: readonly FaultReported[]) => readonly FaultReported[];
  /** Changes that its check makes: "+ file /tmp/left". */
  readonly checkChanges?: readonly string[];
  readonly recover?: 'only says done' | 'says that there is nothing';
  readonly recoverChanges?: readonly string[];
  /** The exit code of its dry run. */
  readonly foresees?: number;
}

/** The node of a case, as the exam sees it, with this program on it. */
function nodeWith(product: Product, { fault, expected }: Break): ExamNode {
  const { verdict, state, repair, must = [], afterwards = [] } = expected;
  let things = AT_REST;
  let isRepaired = false;
  const change = (changes: readonly string[]) => {
    for (const line of changes) {
      const thing = line.slice('+ '.length);
      things = line.startsWith('+') ? [...things, thing] : things.filter((each) => each !== thing);
    }
  };
  const output = (code: number, stdout: string): Ran => ({ code, stdout, stderr: '' });
  const finding = { state, summary: 'it is so' };
  const count = expected.findings ?? (state === undefined ? 0 : 1);
  const broken = { name: fault, verdict, findings: Array.from({ length: count }, () => finding) };
  const honest = (): readonly FaultReported[] => {
    if (!isRepaired) return [broken];
    const left = afterwards.map((name) => ({ ...broken, name }));
    return afterwards.includes(fault)
      ? left
      : [{ name: fault, verdict: 'clear', findings: [] }, ...left];
  };
  const check = () => {
    change(product.checkChanges ?? []);
    const faults = (product.check ?? ((all) => all))(honest());
    const worst = (['found', 'unknown'] as const).find((each) =>
      faults.some((reported) => reported.verdict === each),
    );
    return output(CODES[worst ?? 'clear'], JSON.stringify({ faults }));
  };
  const doneCode = afterwards.includes(fault) ? CODES.found : CODES.clear;
  const dryRun = () => {
    if (product.foresees !== undefined) return output(product.foresees, '');
    if (product.recover === 'says that there is nothing') return output(0, '');
    return output(repair === 'refused' ? 3 : doneCode, '');
  };
  const recover = () => {
    change(product.recoverChanges ?? []);
    if (product.recover === 'says that there is nothing') return output(0, 'nothing to do\n');
    if (repair === 'refused') return output(3, 'refused  it is in use\n');
    if (repair === 'none') return output(CODES[verdict], `${verdict}: nothing to do\n`);
    isRepaired = true;
    // An object that is removed and created again gets another line with the same prefix.
    const actions = must.map((line) => (line.startsWith('+') ? `${line} again` : line));
    if (product.recover !== 'only says done') change(actions);
    return output(doneCode, 'done  repaired\n');
  };
  return {
    settleMs: 0,
    make: async () => {
      const gone = must.filter((line) => line.startsWith('- ')).map((line) => line.slice(2));
      things = [...things, 'broken', ...gone];
    },
    heal: async () => {
      things = AT_REST;
    },
    snapshot: async () => seen(things),
    kubediag: async ([command, ...args]) => {
      if (command !== 'recover') return check();
      return args.includes('--dry-run') ? dryRun() : recover();
    },
  };
}

async function failedOf(product: Product, cases: readonly Break[]): Promise<readonly string[]> {
  const results = await Promise.all(
    cases.map((each) => runCase(each, nodeWith(product, each), async () => seen(AT_REST))),
  );
  return results.filter(({ passed }) => !passed).map(({ name }) => name);
}

const namesOf = (cases: readonly Break[]) => cases.map(caseName);
const faults = breaks.filter(({ kind }) => kind === 'fault');
const lookAlikes = breaks.filter(({ kind }) => kind === 'look-alike');
const repaired = breaks.filter(({ expected }) => expected.repair === 'done');

test('every break with a repair lists the required changes', () => {
  const unannounced = repaired.filter(({ expected }) => (expected.must ?? []).length === 0);
  expect(namesOf(unannounced)).toEqual([]);
  const reported = repaired.flatMap(({ expected }) => expected.must ?? []);
  for (const line of reported) expect(line).toMatch(/^[+-] (file|mount|pod|container|process) \S/);
});

test('a correct program passes every case', async () => {
  expect(await failedOf({}, breaks)).toEqual([]);
});

test('a program that only claims a repair fails every case with required changes', async () => {
  expect(await failedOf({ recover: 'only says done' }, breaks)).toEqual(namesOf(repaired));
});

test('a program whose dry run always returns 0 fails every case that leaves a finding', async () => {
  const staying = breaks.filter(
    ({ fault, expected: { repair, afterwards = [] } }) =>
      repair === 'refused' || (repair === 'done' && afterwards.includes(fault)),
  );
  expect(staying.length).toBeGreaterThan(3);
  expect(await failedOf({ foresees: 0 }, breaks)).toEqual(namesOf(staying));
});

test('a program that finds nothing fails every fault', async () => {
  const blind: Product = {
    check: (honest) => honest.map((each) => ({ ...each, verdict: 'clear', findings: [] })),
    recover: 'says that there is nothing',
  };
  expect(await failedOf(blind, faults)).toEqual(namesOf(faults));
});

test('a program that always finds something fails every look-alike', async () => {
  const finding = { state: 'active', summary: 'who knows' };
  const anxious: Product = {
    check: (honest) => honest.map((each) => ({ ...each, verdict: 'found', findings: [finding] })),
  };
  expect(await failedOf(anxious, lookAlikes)).toEqual(namesOf(lookAlikes));
});

test.each<[string, Product]>([
  ['a check that leaves a file', { checkChanges: ['+ file /tmp/left file 0644 0:0'] }],
  [
    'a check that leaves a reader where nobody hangs',
    { checkChanges: ['+ process kubediag-reader'] },
  ],
  ['a check that ends something', { checkChanges: ['- process kubelet'] }],
  ['a repair that touches more', { recoverChanges: ['+ file /etc/left file 0644 0:0'] }],
  ['a repair that harms a healthy pod', { recoverChanges: [`- pod practice/web-0 ${UID} ready`] }],
  [
    'a check with one finding more',
    {
      check: (honest) =>
        honest.map((each) => ({ ...each, findings: [...each.findings, { state: 'benign' }] })),
    },
  ],
])('%s fails in every case', async (_, product) => {
  expect(await failedOf(product, breaks)).toEqual(namesOf(breaks));
});

test('a finding of the right fault on a healthy pod fails the case', async () => {
  const mistaken: Product = {
    check: (honest) =>
      honest.map((each) => ({
        ...each,
        findings: each.findings.map((finding) => ({ ...finding, subject: { podUid: UID } })),
      })),
  };
  const found = breaks.filter(({ expected }) => expected.state !== undefined);
  expect(await failedOf(mistaken, breaks)).toEqual(namesOf(found));
});
