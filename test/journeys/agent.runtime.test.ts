import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { GatedUmount } from '../rig/gated-umount.ts';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import { expectPrintedStatus, type PrintedDiagnosis } from '../rig/printed-status.ts';
import { ServedNode } from '../rig/served-node.ts';
import { MANIFEST, SubpathNode } from '../rig/subpath-node.ts';

const NAME = 'subpath-remount-diagnosis';
const PATH_KEY = 'diagnoser.kubernetes.subpath_remount.original_destination_path';

const POLL = { timeout: 20_000, interval: 200 };

/** The manifests that KubeDiag's own page prints, given to an agent that stands on the sick node. */
describe('an agent that stands on a node with a stale subPath mount', () => {
  let node: PracticeNode;
  let sick: SubpathNode;
  let agent: ServedNode;
  const undo: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    sick = await SubpathNode.make(undo);
    ({ node } = sick);
    agent = new ServedNode(node);
    undo.push(async () => void (await agent.end('SIGKILL')));
    await agent.start();
    await sick.startAttempt();
    await sick.makeStale();
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  async function diagnosis(name: string): Promise<PrintedDiagnosis & { spec: object }> {
    const { stdout, stderr } = await agent.kubediag('get', 'diag', name, '-o', 'json');
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as PrintedDiagnosis & { spec: object };
  }

  /** The same Diagnosis under another name, which does nothing before it is approved. */
  function carefulManifest(name: string): string {
    const file = join(node.scratch, `${name}.yaml`);
    const manifest = readFileSync(MANIFEST, 'utf8').replace(NAME, name);
    writeFileSync(file, `${manifest.trimEnd()}\n  recovery: Approval\n`);
    return file;
  }

  async function planOf(name: string): Promise<string | undefined> {
    const { status } = (await diagnosis(name)) as { status?: { plan?: string } };
    return status?.plan;
  }

  const phaseOf = async (name: string) => (await diagnosis(name)).status?.phase;
  const entries = async () => {
    const { stdout } = await agent.kubediag('journal', '-o', 'json');
    return JSON.parse(stdout) as readonly { readonly outcome: { readonly state: string } }[];
  };

  it('changes nothing for a path in the input of a processor, and nothing in a dry run', async () => {
    await expect(sick.startAttempt()).rejects.toThrow('no such file or directory');
    const before = mountTables(node.inside);
    const forged = { body: JSON.stringify({ [PATH_KEY]: '/proc' }) };
    const refused = await agent.ask('POST', '/processor/subpathRemountRecover', forged);
    expect(refused.code).toBe(500);
    expect(refused.text).toContain('refused: a new check does not find');
    const pod = { 'pod.namespace': 'default', 'pod.name': 'core2-5b89896b96-d44xl' };
    const detail = await agent.ask('POST', '/processor/podDetailCollector', {
      body: JSON.stringify(pod),
    });
    expect(detail.code, detail.text).toBe(200);
    const wanted = { ...pod, [PATH_KEY]: sick.volume.target };
    const dry = await agent.ask('POST', '/processor/subpathRemountRecover?dryRun=true', {
      body: JSON.stringify(wanted),
    });
    expect(dry.code, dry.text).toBe(200);
    expect(dry.text).toContain('Would umount');
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
  });

  it('waits for an approval over a restart, and acts on no other word', async () => {
    const before = mountTables(node.inside);
    const applied = await agent.kubediag('apply', '-f', carefulManifest('careful'));
    expect(applied.code, applied.stderr).toBe(0);
    await expect.poll(() => planOf('careful'), POLL).toMatch(/^[\da-f]{16}$/);
    const plan = (await planOf('careful')) ?? '';
    const ended = await agent.end('SIGTERM');
    expect(ended).toMatchObject({ code: 0 });
    await agent.start();
    const other = await agent.kubediag('approve', 'careful', '--plan', '0'.repeat(16));
    expect(other.code).toBe(3);
    expect(other.stderr).toContain(`the plan is now ${plan}, not 0000000000000000`);
    const unasked = await agent.kubediag('approve', 'careful');
    expect(unasked.stderr).toContain(`--plan ${plan}`);
    expect(await phaseOf('careful')).toBe('Running');
    expect(await agent.kubediag('cancel', 'careful')).toMatchObject({ code: 0 });
    await expect.poll(() => phaseOf('careful'), POLL).toBe('Failed');
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
    expect(await entries()).toEqual([]);
  });

  it('ends with the status that the page prints, and the container starts again', async () => {
    const before = mountTables(node.inside);
    const line = sick.staleLine();
    const applied = await agent.kubediag('apply', '-f', MANIFEST);
    expect(applied.code, applied.stderr).toBe(0);
    expect(applied.stdout).toContain(`diagnosis.diagnosis.kubediag.org/${NAME} created\n`);
    await expect.poll(() => phaseOf(NAME), POLL).toBe('Succeeded');
    expectPrintedStatus(await diagnosis(NAME), line);
    expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${line}`]);
    await sick.volume.bind();
    await sick.startAttempt();
  });

  it('survives a restart, and does nothing a second time', async () => {
    const before = await diagnosis(NAME);
    expect(await agent.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    const gone = await agent.kubediag('get', 'diag');
    expect(gone.code).toBe(3);
    expect(gone.stderr).toMatch(/no agent listens on .*\n.*why.*ECONNREFUSED.*\n.*kubediag serve/);
    await agent.start();
    expect(await diagnosis(NAME)).toEqual(before);
    const again = await agent.kubediag('apply', '-f', MANIFEST);
    expect(again.stdout.match(/ unchanged\n/g)).toHaveLength(6);
    expect((await entries()).map(({ outcome }) => outcome.state)).toEqual(['done']);
    const metrics = await agent.ask('GET', '/metrics');
    expect(metrics.text).toContain('kubediag_diagnoses{phase="Succeeded",result="Repaired"} 1\n');
  });

  it('does what was approved, once the plan that was seen is named', async () => {
    await sick.makeStale();
    await expect(sick.startAttempt()).rejects.toThrow('no such file or directory');
    const applied = await agent.kubediag('apply', '-f', carefulManifest('approved'));
    expect(applied.code, applied.stderr).toBe(0);
    await expect.poll(() => planOf('approved'), POLL).toMatch(/^[\da-f]{16}$/);
    const plan = (await planOf('approved')) ?? '';
    const listed = await agent.kubediag('get', 'diagnoses', 'approved');
    expect(listed.stdout).toMatch(/ PHASE +RESULT .*\napproved .* Running +WaitingForApproval /);
    const waiting = await agent.kubediag('describe', 'diagnosis', 'approved');
    expect(waiting.stdout).toMatch(/^Result: +WaitingForApproval\n/);
    expect(waiting.stdout).toContain('  - kubediag approve approved -n default\n');
    const approved = await agent.kubediag('approve', 'approved', '--plan', plan);
    // Long paths are broken into lines.
    const whole = (text: string) => text.replaceAll(/\n +/g, '');
    expect(whole(approved.stdout)).toContain(`plan ${plan}:unmount ${sick.volume.target}`);
    expect(approved.stdout).toContain(`approved (plan ${plan})\n`);
    await expect.poll(() => phaseOf('approved'), POLL).toBe('Succeeded');
    expect((await entries()).map(({ outcome }) => outcome.state)).toEqual(['done', 'done']);
    const described = await agent.kubediag('describe', 'diagnosis', 'approved');
    expect(whole(described.stdout)).toContain(`- done: unmount ${sick.volume.target}`);
    expect(described.stdout.replaceAll(/\s+/g, ' ')).toContain(', entry 2 of the journal ');
    expect(described.stdout).toMatch(/^Result: +Repaired\n/);
    const { findings } = (await diagnosis('approved')).status as DiagnosisStatus;
    const sentences = [findings?.[0]?.summary ?? '', `unmount ${sick.volume.target}`];
    for (const sentence of sentences) {
      const compact = (text: string) => text.replaceAll(/\s+/g, '');
      expect(compact(described.stdout).split(compact(sentence))).toHaveLength(2);
    }
    expect((await entries()).at(-1)).toMatchObject({ diagnosis: 'default/approved' });
    await sick.volume.bind();
    await sick.startAttempt();
  });

  it('ends only when an action that it has begun is done, and goes on from there', async () => {
    await sick.makeStale();
    await expect(sick.startAttempt()).rejects.toThrow('no such file or directory');
    const umount = await GatedUmount.install(node);
    umount.close('before');
    const manifest = readFileSync(MANIFEST, 'utf8').replace(NAME, 'ended');
    writeFileSync(join(node.scratch, 'ended.yaml'), manifest);
    await agent.kubediag('apply', '-f', join(node.scratch, 'ended.yaml'));
    await umount.reached('before');
    const ended = agent.end('SIGTERM');
    expect(await Promise.race([ended, sleep(2_000)])).toBeUndefined();
    umount.open('before');
    expect(await ended).toMatchObject({ code: 0 });
    expect(umount.unmounted).toHaveLength(1);
    await agent.start();
    await expect.poll(() => phaseOf('ended'), POLL).toBe('Succeeded');
    expect(umount.unmounted).toHaveLength(1);
    const states = (await entries()).map(({ outcome }) => outcome.state);
    expect(states).toEqual(['done', 'done', 'done']);
    expect(await agent.end('SIGTERM')).toMatchObject({ code: 0 });
  });
});
