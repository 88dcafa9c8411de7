import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import { takeNodeLock } from '../../src/lib/state/node-lock.ts';
import { thisProcess } from '../../src/lib/state/this-process.ts';
import { readJournal } from '../../src/node/repair/journal.ts';
import { listenForExecutor } from '../../src/pipeline/channel/listen-for-executor.ts';
import { stepsOf } from '../../src/pipeline/operations/fault-steps.ts';
import { digestOf, planName } from '../../src/pipeline/steps/plan.ts';
import type { StepToRun } from '../../src/pipeline/steps/step-to-run.ts';
import {
  breakNode,
  check,
  expectUntouched,
  FAULT,
  makeNode,
  NEW,
  OLD,
  podOf,
  RUNNING,
  refusedBecauseOf,
} from '../rig/faulty-node.ts';
import { GatedUmount } from '../rig/gated-umount.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import type { Running } from '../rig/run-kubediag.ts';
import { step, UID } from '../synthetic-channel.ts';

/** The executable as executor of a practice node, and this test as its agent, which may be hostile. */

const STEPS = stepsOf({ id: FAULT });
const ALL = 'actions: All\nactionsPerHour: 20\n';

async function executorOn(node: PracticeNode, policy = ALL) {
  const socketPath = join(node.scratch, 'executor.sock');
  const policyFile = join(node.scratch, 'policy.yaml');
  writeFileSync(policyFile, policy);
  const agent = await listenForExecutor({ socketPath, nodeName: 'node-1' });
  onTestFinished(() => agent.close());
  const args = ['--socket', socketPath, '--policy', policyFile, '--node-name', 'node-1'];
  let running: Running | undefined;
  const start = () => {
    running = node.start(['executor', ...args, '--state-dir', node.stateFolder]);
  };
  /** The executor itself, and not what entered the namespaces for it. */
  const end = async (signal: NodeJS.Signals) => {
    const ending = running;
    running = undefined;
    const pid = ending && (await childOf(ending.child.pid ?? 0));
    if (pid !== undefined) process.kill(pid, signal);
    return ending?.end;
  };
  start();
  onTestFinished(async () => void (await end('SIGTERM')));
  const run = (path: string, fields: Partial<StepToRun> & { readonly spec?: object } = {}) =>
    agent.runStep(stepAt(path, fields));
  return {
    agent,
    run,
    start,
    end,
    setPolicy: (text: string) => writeFileSync(policyFile, text),
    said: () => running?.said() ?? '',
  };
}

function stepAt(
  path: string,
  { spec, ...fields }: Partial<StepToRun> & { readonly spec?: object },
) {
  const { diagnosis } = step();
  return step({
    processor: { way: 'http', path, scheme: 'http', timeoutSeconds: 60 },
    diagnosis: { ...diagnosis, spec: { operationSet: FAULT, ...spec }, status: {} },
    input: {},
    ...fields,
  });
}

const refused = { succeeded: false, reason: 'Refused', message: /a new check does not find/ };

const journalOf = (node: PracticeNode) =>
  readJournal(node.stateFolder).records.map(({ event, action }) => `${event} ${action.kind}`);

const idsAs = (...ids: readonly string[]) => ({
  [STEPS.findings]: JSON.stringify(ids.map((id) => ({ id }))),
});

async function activeId(node: PracticeNode): Promise<string> {
  const { fault } = await check(node);
  return fault.findings[0]?.id ?? '';
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe('an executor', () => {
  it('finds and repairs what is really there, once for each step, and survives a kill in the act', async () => {
    const broken = await makeNode();
    const { node } = broken;
    await breakNode(broken);
    const umount = await GatedUmount.install(node);
    const executor = await executorOn(node);
    const found = await executor.run(STEPS.diagnoserPath);
    if (!('succeeded' in found && found.succeeded)) throw new Error(JSON.stringify(found));
    umount.close('after');
    const repair = { input: found.results, purpose: 'uid/2' };
    const repaired = executor.run(STEPS.recoverPath, repair);
    await umount.reached('after');
    await executor.end('SIGKILL');
    umount.open('after');
    executor.start();
    const done = { succeeded: true, record: { actions: [{ kind: 'unmount', state: 'done' }] } };
    expect(await repaired).toMatchObject(done);
    expect(await executor.run(STEPS.recoverPath, repair)).toMatchObject(done);
    expect(journalOf(node)).toEqual(['intended unmount', 'concluded unmount']);
    expect(umount.unmounted).toHaveLength(1);
    expect(await executor.agent.earlierActionsFor('uid/2')).toMatchObject({
      isKnown: true,
      record: { actions: [{ kind: 'unmount', state: 'done' }] },
    });
    expect(await executor.end('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('settles its journal when the agent asks, and not while it repairs', async () => {
    const broken = await makeNode();
    const { node } = broken;
    await breakNode(broken);
    const umount = await GatedUmount.install(node);
    const executor = await executorOn(node);
    expect(await executor.agent.settleJournal()).toEqual({ isSettled: true });
    const found = await executor.run(STEPS.diagnoserPath);
    if (!('succeeded' in found && found.succeeded)) throw new Error(JSON.stringify(found));
    umount.close('after');
    const { signal: stop, abort } = abortable();
    const repaired = executor.run(STEPS.recoverPath, { input: found.results, stop });
    await umount.reached('after');
    expect(await executor.agent.settleJournal()).toMatchObject({ isSettled: false });
    // Nobody sends the step again.
    abort();
    await executor.end('SIGKILL');
    umount.open('after');
    expect(journalOf(node)).toEqual(['intended unmount']);
    executor.start();
    await repaired;
    expect(await executor.agent.settleJournal()).toEqual({ isSettled: true });
    expect(journalOf(node)).toEqual(['intended unmount', 'concluded unmount']);
    expect(umount.unmounted).toHaveLength(1);
    await executor.end('SIGTERM');
  });

  it('changes nothing for an agent that claims findings, approvals and plans', async () => {
    const { node, runtime } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    const subpath = await node.subpath();
    runtime.containers = [RUNNING];
    const { run } = await executorOn(node);
    await expectUntouched(node, async () => {
      // Nothing is wrong.
      const claimed = { input: idsAs('abcdef'), spec: { recovery: 'Automatic' } };
      expect(await run(STEPS.recoverPath, claimed)).toMatchObject(refused);
      const input = {
        'diagnoser.kubernetes.subpath_remount.original_destination_path': subpath.target,
      };
      expect(await run('/processor/subpathRemountRecover', { input })).toMatchObject({
        succeeded: false,
      });
    });
    // Something is wrong that does no harm yet.
    subpath.update();
    await expectUntouched(node, async () => {
      const latent = await activeId(node);
      expect(await run(STEPS.recoverPath, { input: idsAs(latent) })).toMatchObject(refused);
      // A plan of its own making, with the approval of it.
      const action = {
        kind: 'unmount',
        id: 1,
        parent: 1,
        device: '0:1',
        root: '/',
        target: '/',
      } as const;
      const wanted = { fault: FAULT, finding: latent, summary: '', actions: [action] };
      const planned = [{ kind: 'unmount', digest: digestOf(wanted) }];
      const plan = planName({}, planned);
      const { diagnosis } = step();
      const approved = {
        ...diagnosis,
        spec: { operationSet: FAULT, recovery: 'Approval', approvedPlan: plan } as const,
        status: { plan, plannedActions: planned.map((each) => ({ ...each, plan })) },
      };
      const forged = { diagnosis: approved, input: idsAs(latent) };
      expect(await run(STEPS.recoverPath, forged)).toMatchObject(refused);
    });
    expect(journalOf(node)).toEqual([]);
  });

  it('obeys its policy, which takes effect at once', async () => {
    const broken = await makeNode();
    const { node } = broken;
    await breakNode(broken);
    const executor = await executorOn(node, 'actions: Some\n');
    const input = idsAs(await activeId(node));
    const repair = async () => executor.run(STEPS.recoverPath, { input });
    await expectUntouched(node, async () => {
      expect(await repair()).toMatchObject({
        reason: 'Refused',
        message: /policy.yaml: actions: use All/,
      });
      executor.setPolicy('actions: [set-aside]\n');
      expect(await repair()).toMatchObject({
        reason: 'Refused',
        message: /unmount is not permitted here/,
      });
      executor.setPolicy('actions: All\nactionsPerHour: 0\n');
      expect(await repair()).toMatchObject({
        reason: 'Refused',
        message: /limit of actions per hour/,
      });
      const processor = {
        way: 'script',
        script: 'umount -a',
        argKeys: [],
        timeoutSeconds: 5,
      } as const;
      expect(await executor.run('', { processor })).toMatchObject({
        message: /^refused: scripts and functions/,
      });
      const elsewhere = { diagnosis: { ...step().diagnosis, nodeName: 'node-2' } };
      expect(await executor.run(STEPS.recoverPath, elsewhere)).toMatchObject({
        message: /not this node/,
      });
    });
    executor.setPolicy('actions: All\nactionsPerHour: 1\n');
    expect(await repair()).toMatchObject({ succeeded: true });
    // The next fault, after a restart: the journal still counts the first action.
    await executor.end('SIGTERM');
    const other = await node.subpath({ container: 'app', index: 2, volume: 'more' });
    other.update();
    broken.runtime.containers = [refusedBecauseOf(other.target)];
    executor.start();
    const next = await check(node);
    const again = idsAs(...next.fault.findings.map(({ id }) => id));
    const result = await executor.run(STEPS.recoverPath, { input: again, purpose: 'uid/3' });
    expect(result).toMatchObject({ reason: 'Refused', message: /limit of actions per hour/ });
    expect(journalOf(node)).toEqual(['intended unmount', 'concluded unmount']);
  });

  it('lists the bundle with the evidence of a repair, for the agent to fetch until it is removed', async () => {
    const broken = await makeNode();
    const { node } = broken;
    await breakNode(broken);
    const { agent, run } = await executorOn(node);
    const outcome = await run(STEPS.recoverPath, { input: idsAs(await activeId(node)) });
    const { files = [] } = outcome.record ?? {};
    const bundles = readdirSync(join(node.stateFolder, 'bundles'));
    expect(files.map(({ name }) => name)).toEqual(bundles.map((name) => `bundles/${name}`));
    const path = `results/${UID}/${files[0]?.file}`;
    const pieces: Uint8Array[] = [];
    for await (const piece of (await agent.readFile(path))?.pieces ?? []) pieces.push(piece);
    const content = Buffer.concat(pieces);
    expect(content).toEqual(readFileSync(join(node.stateFolder, 'bundles', bundles[0] ?? '')));
    const digest = createHash('sha256').update(content).digest('hex');
    expect(files).toMatchObject([{ bytes: content.length, sha256: digest }]);
    await agent.largeResults.remove(UID);
    expect(await agent.readFile(path)).toBeUndefined();
    expect(readdirSync(join(node.stateFolder, 'bundles'))).toEqual(bundles);
  });

  it('reads no file but outputs of steps, and stores results only in its own directory', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: NEW, pods: [] } });
    const { agent } = await executorOn(node);
    const uid = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const file = '9b74c9897bac770ffc029102a200c5de';
    expect(await agent.largeResults.store(uid, file, 'text')).toMatchObject({ ok: true });
    mkdirSync(join(node.stateFolder, 'credentials'));
    writeFileSync(join(node.stateFolder, 'credentials/logs.json'), 'secret');
    writeFileSync(join(node.stateFolder, 'journal.jsonl'), '');
    const results = `results/${uid}`;
    for (const path of [
      ...['journal.jsonl', 'credentials/logs.json', '/etc/passwd', '../../../etc/passwd'],
      ...[
        `${results}/../../../journal.jsonl`,
        `${results}/${file}/../${file}`,
        `./${results}/${file}`,
      ],
      ...['collected/../journal.jsonl', 'holder', ''],
    ]) {
      expect(await agent.readFile(path)).toBeUndefined();
    }
    expect((await agent.readFile(`${results}/${file}`))?.bytes).toBe(4);
    expect(await agent.largeResults.store('../x', file, 'text')).toMatchObject({ ok: false });
    expect(await agent.largeResults.store(uid, '../../../x', 'text')).toMatchObject({ ok: false });
    await agent.largeResults.retain(new Set());
    expect(await agent.readFile(`${results}/${file}`)).toBeUndefined();
  });

  it('and a person on the node repair one after the other, in different PID namespaces', async () => {
    const broken = await makeNode();
    const { node } = broken;
    await breakNode(broken);
    const { run } = await executorOn(node);
    const input = idsAs(await activeId(node));
    // The person is outside of the PID namespace of the executor.
    const taken = await takeNodeLock(node.stateFolder, thisProcess());
    if (!taken.isTaken) throw new Error(taken.why);
    await expectUntouched(node, async () => {
      expect(await run(STEPS.recoverPath, { input })).toMatchObject({
        reason: 'Refused',
        message: /another recovery .* is at work on this node.*another PID namespace/,
      });
    });
    taken.lock.release();
    expect(await run(STEPS.recoverPath, { input })).toMatchObject({ succeeded: true });
    const later = await takeNodeLock(node.stateFolder, thisProcess());
    expect(later.isTaken).toBe(true);
    if (later.isTaken) later.lock.release();
  });
});
