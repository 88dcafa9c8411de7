import { expect, test } from 'vitest';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import {
  ACTIONS_SHOWN_BYTES_MAX,
  FILES_SHOWN_BYTES_MAX,
  FINDINGS_SHOWN_BYTES_MAX,
  PROOF_SHOWN_BYTES_MAX,
} from './limits.ts';
import { withRecord } from './with-record.ts';

const proof = [{ claim: 'it is deleted', text: 'x'.repeat(900), origin: '/proc/812/mountinfo:4' }];
const finding = (id: string, more: object = {}) => ({
  fault: 'a-fault',
  id,
  state: 'active',
  reason: 'ItIsBroken',
  summary: 'It is broken.',
  subject: { mount: `/a/${id}` },
  proof,
  ...more,
});
const some = (count: number, more?: object) =>
  Array.from({ length: count }, (_, at) => finding(`f${at}`, more));

test('lists a repeated finding once, as it was found last', () => {
  const first = withRecord({}, { findings: some(2) });
  const later = withRecord(first, { findings: [finding('f0', { state: 'damaged' })] });
  expect(later.findings?.map(({ id, state }) => [id, state])).toEqual([
    ['f1', 'active'],
    ['f0', 'damaged'],
  ]);
  // Another thing may have the same short name.
  const other = withRecord(first, { findings: [finding('f0', { subject: { mount: '/b' } })] });
  expect(other.findings).toHaveLength(3);
});

test('lists proof up to a limit, and counts the rest', () => {
  const status = withRecord({}, { findings: some(60) });
  const { findings = [] } = status;
  expect(findings).toHaveLength(60);
  const proven = findings.filter((each) => each.proof);
  expect(proven).toEqual(findings.slice(0, proven.length));
  expect(proven.length).toBeGreaterThan(20);
  expect(bytes(proven.map((each) => each.proof))).toBeLessThanOrEqual(PROOF_SHOWN_BYTES_MAX);
  const { proof: _, ...bare } = finding('f59');
  expect(findings.at(-1)).toEqual({ ...bare, proofNotListed: 1 });
  expect(status).not.toHaveProperty('findingsNotListed');
});

test('the findings of a thousand steps do not fill the status', () => {
  let status: DiagnosisStatus = {};
  for (let at = 0; at < 1_000; at += 1) {
    const description = {
      kind: 'unmount',
      state: 'done',
      description: `unmount /${'x'.repeat(900)}`,
    };
    status = withRecord(status, {
      findings: [finding(`f${at}`, { summary: 'x'.repeat(300) })],
      actions: [{ ...description, details: ['mount 216'], journalEntry: at + 1 }],
      plannedActions: [description],
    });
  }
  const { findings = [], actions = [], plannedActions = [] } = status;
  expect(bytes(findings)).toBeLessThanOrEqual(FINDINGS_SHOWN_BYTES_MAX + PROOF_SHOWN_BYTES_MAX);
  expect(bytes(actions)).toBeLessThanOrEqual(ACTIONS_SHOWN_BYTES_MAX);
  expect(bytes(plannedActions)).toBeLessThanOrEqual(ACTIONS_SHOWN_BYTES_MAX);
  expect(findings.length + (status.findingsNotListed ?? 0)).toBe(1_000);
  expect(actions.length + (status.actionsNotListed ?? 0)).toBe(1_000);
  expect(plannedActions.length + (status.plannedActionsNotListed ?? 0)).toBe(1_000);
});

test('an action that is larger than all that is shown is counted, and not listed', () => {
  const description = 'x'.repeat(ACTIONS_SHOWN_BYTES_MAX);
  const action = { kind: 'unmount', state: 'done', description, details: [] };
  expect(withRecord({}, { actions: [action] })).toMatchObject({ actions: [], actionsNotListed: 1 });
});

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const fetching = {
  uid: UID,
  howToFetch: (uid: string, { file, accessKey }: { file: string; accessKey?: string }) =>
    `fetch ${uid}/${file}?key=${accessKey}`,
};
const files = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: 'captures/pod.pcap',
    bytes: 24,
    file: String(at).padStart(32, '0'),
    sha256: String(at).padStart(64, '0'),
  }));

test('lists each file of a step once, with a key of its own and how to fetch it', () => {
  const [one, two] = files(2);
  if (!one || !two) throw new Error('too few');
  const first = withRecord({}, { files: [one, one] }, fetching);
  const later = withRecord(first, { files: [one, two] }, fetching);
  const keys = later.files?.map(({ accessKey }) => accessKey) ?? [];
  expect(later.files).toEqual(
    [one, two].map((each, at) => ({
      ...each,
      accessKey: keys[at],
      message: `fetch ${UID}/${each.file}?key=${keys[at]}`,
    })),
  );
  expect(later.files?.[0]).toEqual(first.files?.[0]);
  expect(keys[0]).toMatch(/^[\da-f]{32}$/);
  expect(keys[1]).not.toBe(keys[0]);
  expect(later).not.toHaveProperty('filesNotListed');
});

test('lists no file where clients need no key, and counts those beyond the limit', () => {
  expect(withRecord({}, { files: files(1) })).toEqual({});
  expect(withRecord({}, { files: files(1) }, { uid: UID, howToFetch: undefined })).toEqual({});
  const full = withRecord({}, { files: files(100) }, fetching);
  expect(bytes(full.files)).toBeLessThanOrEqual(FILES_SHOWN_BYTES_MAX);
  expect(full.files?.length).toBeGreaterThan(10);
  expect(full.filesNotListed).toBe(100 - (full.files?.length ?? 0));
});
