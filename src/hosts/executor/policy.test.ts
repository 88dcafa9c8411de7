import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ALL_ACTIONS } from '../../node/repair/open-repair.ts';
import { type Policy, policyFrom, policyText } from './policy.ts';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-policy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function policyOf(text: string): Promise<Policy> {
  const path = join(scratch(), 'policy.yaml');
  writeFileSync(path, text);
  return policyFrom(path, () => {})();
}

test('a policy without fields permits nothing that changes the node or runs a program', async () => {
  expect(await policyOf('{}')).toEqual({
    actions: new Set(),
    actionsPerHour: 20,
    ...{ scripts: false, profilers: false },
    servers: new Set(),
  });
});

test('each field permits what it names', async () => {
  const policy = await policyOf(`
actions: [unmount, set-aside]
actionsPerHour: 3
scripts: Allow
profilers: Allow
servers: ["https://logs.example:9200"]
`);
  expect(policy).toEqual({
    actions: new Set(['unmount', 'set-aside']),
    actionsPerHour: 3,
    ...{ scripts: true, profilers: true },
    servers: new Set(['https://logs.example:9200']),
  });
  expect(policyText(policy)).toBe(
    'policy: actions: unmount, set-aside, at most 3 per hour; scripts and functions: allowed; ' +
      'profilers: allowed; servers: https://logs.example:9200',
  );
  expect((await policyOf('actions: All')).actions).toEqual(ALL_ACTIONS);
});

test.each([
  ['action: All', /unknown field action; there are actions, actionsPerHour, scripts/],
  ['actions: [unmount, reboot]', /actions.1: use All, None, or a list of unmount/],
  ['actions: all', /actions: use All, None/],
  ['actionsPerHour: -1', /actionsPerHour: /],
  ['actionsPerHour: 1001', /actionsPerHour: /],
  ['actionsPerHour: "5"', /actionsPerHour: /],
  ['scripts: true', /scripts: /],
  ['servers: [logs.example]', /servers.0: not an origin/],
  ['servers: ["https://logs.example:9200/path"]', /servers.0: not an origin/],
  ['scripts: Allow\nscripts: Deny', /not one valid YAML document/],
  ['scripts: Allow\n---\nscripts: Allow', /not one valid YAML document/],
  ['[', /not one valid YAML document/],
  ['', /not a map of fields/],
  [`# ${'x'.repeat(70_000)}`, /is larger than 65536 bytes/],
])('the policy %j permits nothing, and the message says why', async (text, why) => {
  const policy = await policyOf(text);
  expect(policy).toMatchObject({
    actions: new Set(),
    actionsPerHour: 0,
    ...{ scripts: false, profilers: false },
    servers: new Set(),
    problem: why,
  });
  expect(policyText(policy)).toMatch(/^policy file .*; until it is corrected, no repair/);
});

test('a policy takes effect without a restart, as a ConfigMap changes it, and is reported once', async () => {
  const folder = scratch();
  const path = join(folder, 'policy.yaml');
  const seen: string[] = [];
  const policy = policyFrom(path, (each) => seen.push(each.problem ?? [...each.actions].join()));
  expect((await policy()).problem).toMatch(/policy.yaml: no such file/);
  const change = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    symlinkSync(name, join(folder, '..data'));
    renameSync(join(folder, '..data'), path);
  };
  change('first', 'actions: [unmount]');
  expect((await policy()).actions).toEqual(new Set(['unmount']));
  await policy();
  change('second', 'actions: [set-aside]');
  expect((await policy()).actions).toEqual(new Set(['set-aside']));
  rmSync(path);
  expect((await policy()).actions).toEqual(new Set());
  expect(seen).toEqual([
    expect.stringContaining('no such file'),
    'unmount',
    'set-aside',
    expect.stringContaining('no such file'),
  ]);
});
