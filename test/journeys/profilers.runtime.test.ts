import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseProfile } from '../../src/lib/go/profile.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { type RunningContainerd, startContainerd } from '../rig/containerd.ts';
import { podOf } from '../rig/faulty-node.ts';
import { layPodNetwork } from '../rig/pod-network.ts';
import { PracticeNode, WEB } from '../rig/practice-node.ts';
import { runProgram } from '../rig/run-kubediag.ts';
import { tcpdumpPackages, type UnpackedTcpdump } from '../rig/tcpdump.ts';

const HOSTED = { ...WEB, name: 'hosted-0', uid: '7c1d2e3f-0a1b-4c2d-8e3f-9a0b1c2d3e4f' };
const PORTS = { pod: 7_001, node: 7_002 };
const CAPTURED = 'diagnoser.runtime.tcpdump_profiler.result.Endpoint';
const DUMPED = 'collector.runtime.containerd.goroutine';
const PROFILED = 'diagnoser.runtime.go_profiler.result.endpoint';
const TCPDUMP = 'param.diagnoser.runtime.tcpdump_profiler';
const CORES = 'diagnoser.runtime.core_file_profiler.result.endpoint';
const CORE = 'param.diagnoser.runtime.core_file_profiler';
const PROFILER = 'param.diagnoser.runtime.go_profiler';

/** Steps that watch programs at work, on a node with a real containerd and a pod with its own network. */
describe('profilers of a node', () => {
  let node: PracticeNode;
  let containerd: RunningContainerd;
  let tcpdump: UnpackedTcpdump;
  let source = '';
  const undo: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    const packages = await tcpdumpPackages();
    if ('missing' in packages) throw new Error(packages.missing);
    tcpdump = packages;
    node = await PracticeNode.make();
    undo.push(() => node.stop());
    layPodNetwork(node.scratch);
    containerd = await startContainerd(node.scratch, { namespaces: node.inside });
    undo.push(() => containerd.stop());
    const says = { version: 'v1.34.1', pods: [podOf(WEB), podOf(HOSTED)] };
    await node.startKubelet({ socket: containerd.socket, says });
    const pod = await containerd.runPod({ ...WEB, ownNetwork: true });
    const talk = `while :; do nc -w 1 127.0.0.1 ${PORTS.pod}; sleep 0.1; done`;
    const container = await containerd.createContainer(pod, {
      name: 'app',
      command: ['/bin/sh', '-c', talk],
    });
    await containerd.startContainer(container);
    await containerd.runPod(HOSTED);
    const timer = setInterval(() => connect(PORTS.node, '127.0.0.1').on('error', () => {}), 100);
    undo.push(() => clearInterval(timer));
    const server = await forwardTo(join(node.scratch, 'containerd/d.sock'));
    undo.push(() => void server.close());
    source = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    // Where programs of a node are looked for; nobody outside sees it.
    await node.inside.run('mount', '-t', 'tmpfs', 'tmpfs', '/usr/local/sbin');
    const { program, environment } = tcpdump;
    const args = `LD_LIBRARY_PATH=${environment.LD_LIBRARY_PATH} exec ${program} "$@"`;
    const place = `/proc/${node.inside.pid}/root/usr/local/sbin/tcpdump`;
    writeFileSync(place, `#!/bin/sh\n${args}\n`, { mode: 0o755 });
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  async function forwardTo(path: string): Promise<Server> {
    const server = createServer((here) => {
      const there = connect(path);
      here.pipe(there).pipe(here);
      for (const end of [here, there]) end.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  async function run(
    operation: string,
    parameters: Readonly<Record<string, string>> = {},
    name = WEB.name,
  ): Promise<DiagnosisStatus> {
    const apiVersion = 'diagnosis.kubediag.org/v1';
    const object = (kind: string, spec: object, called = 'one') => ({
      ...{ apiVersion, kind, metadata: { name: called }, spec },
    });
    const podReference = { namespace: WEB.namespace, name, container: 'app' };
    const httpServer = { path: '/processor/goProfiler' };
    const objects = [
      // What is left of the time is what a CPU profile takes.
      object('Operation', { processor: { httpServer, timeoutSeconds: 6 } }, 'go-profiler'),
      object('OperationSet', { adjacencyList: [{ to: [1] }, { operation }] }),
      object('Diagnosis', { operationSet: 'one', nodeName: 'here', podReference, parameters }),
    ];
    const file = join(node.scratch, 'one.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const args = ['--node-name', 'here', '--state-dir', node.stateFolder];
    const ended = await node.kubediag('run', '-f', file, '-o', 'yaml', ...args);
    if (ended.stdout === '') throw new Error(ended.stderr);
    return (parse(ended.stdout) as { readonly status: DiagnosisStatus }).status;
  }

  function fileIn(status: DiagnosisStatus, key: string): string {
    expect(status, JSON.stringify(status.steps)).toMatchObject({ phase: 'Succeeded' });
    const path = status.operationResults?.[key] ?? '';
    expect(path.startsWith(`${node.stateFolder}/collected/`)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    return path;
  }

  it('capture what goes through the network of the pod, and nothing of the node', async () => {
    const asked = { [`${TCPDUMP}.expiration_seconds`]: '2', [`${TCPDUMP}.filter`]: 'tcp' };
    const path = fileIn(await run('tcpdump-profiler', asked), CAPTURED);
    const read = await runProgram([tcpdump.program, '-Z', 'root', '-n', '-r', path], {
      environment: tcpdump.environment,
    });
    expect(read.stdout, read.stderr).toContain(`127.0.0.1.${PORTS.pod}: Flags [S]`);
    expect(read.stdout).not.toContain(`.${PORTS.node}`);
  });

  it.each([
    ['-w/tmp/kubediag-no-such-file', "can't parse filter expression|syntax error"],
    ['--help', "can't parse filter expression|syntax error"],
    ['tcp\n', 'ones that are not seen'],
  ])('take the filter %j for a filter, and never for an option', async (filter, args) => {
    const status = await run('tcpdump-profiler', { [`${TCPDUMP}.filter`]: filter });
    expect(status.phase).toBe('Failed');
    expect(status.steps?.[0]?.message).toMatch(new RegExp(args));
  });

  it('leave the network of the node alone, also when a pod shares it', async () => {
    const status = await run('tcpdump-profiler', {}, HOSTED.name);
    expect(status.steps?.[0]?.message).toContain('it uses the host network');
    const gone = await run('tcpdump-profiler', {}, 'gone-0');
    expect(gone.conditions?.at(-1)?.reason).toBe('PodNotFound');
  });

  it('keep the goroutines of containerd, which lives on', async () => {
    const path = fileIn(await run('containerd-goroutine-collector'), DUMPED);
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/^goroutine \d+ \[/);
    expect(text).toContain('github.com/containerd/containerd');
    const again = fileIn(await run('containerd-goroutine-collector'), DUMPED);
    expect(again).not.toBe(path);
    await containerd.runPod({ ...HOSTED, attempt: 1 });
  });

  it('list core files by their names, and follow no link to another directory', async () => {
    const inside = (path: string) => `/proc/${node.inside.pid}/root${path}`;
    await node.inside.run('mount', '-t', 'tmpfs', 'tmpfs', '/var/lib');
    const folder = '/var/lib/systemd/coredump';
    const pods = `/var/lib/kubediag/corefile/kubernetes/${WEB.namespace}/${WEB.name}/app`;
    for (const path of [folder, pods, '/var/lib/secret']) {
      mkdirSync(inside(path), { recursive: true });
    }
    writeFileSync(inside(`${folder}/core.nginx.0`), 'memory');
    writeFileSync(inside(`${pods}/core.12`), 'of a pod');
    writeFileSync(inside('/var/lib/secret/key'), 'key');
    symlinkSync('/var/lib/secret', inside(`${folder}/link`));
    const cores = (more: object = {}) =>
      run('core-file-profiler', { [`${CORE}.type`]: 'coredump', ...more });
    const found = await cores({ [`${CORE}.filepath`]: folder });
    const modified = expect.stringMatching(/^20/);
    expect(JSON.parse(found.operationResults?.[CORES] ?? '{}')).toEqual({
      files: [{ path: `${folder}/core.nginx.0`, sizeBytes: 6, modified }],
    });
    const ofPod = await cores();
    expect(ofPod.operationResults?.[CORES]).toContain(`${pods}/core.12`);
    for (const filepath of ['/etc', `${folder}/../../secret`, `${folder}/link`, `${folder}x`]) {
      const { phase, steps } = await cores({ [`${CORE}.filepath`]: filepath });
      expect(phase, filepath).toBe('Failed');
      expect(steps?.[0]?.message).toMatch(/is not below|it is a link, no directory/);
    }
    const fixture = await run('core-file-profiler', { [`${CORE}.type`]: 'gcore' });
    expect(fixture.steps?.[0]?.message).toContain('refused: to make a core file stops the process');
  });

  it.each(['Heap', 'Goroutine', 'Profile'])('keep a profile of a Go program: %s', async (type) => {
    const asked = { [`${PROFILER}.type`]: type, [`${PROFILER}.source`]: source };
    const path = fileIn(await run('go-profiler', asked), PROFILED);
    const { measure, samples } = parseProfile(gunzipSync(readFileSync(path)));
    expect(measure).toBe({ Heap: 'inuse_space', Goroutine: 'goroutine', Profile: 'cpu' }[type]);
    if (type !== 'Profile') expect(samples.length).toBeGreaterThan(0);
  });
});
