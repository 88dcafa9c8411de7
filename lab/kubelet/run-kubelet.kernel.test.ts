import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lab } from '../../test/rig/lab-traces.ts';
import { EXECUTABLE, runProgram } from '../../test/rig/run-kubediag.ts';
import { podOf, WEB_POD } from '../healthy-pods.ts';
import { PLACES, READ_ONLY_PORT } from '../places.ts';
import type { KubernetesObject } from '../practice-node.ts';
import { PRACTICE_NAMESPACE } from '../practice-pod.ts';
import type { KubeletChanges } from '../settings.ts';

const NAME = `k${process.pid}`;
const WAIT_MS = 30_000;
const TARGET = `${podFolder(WEB_POD.uid)}/volume-subpaths/settings/app/0`;

function podFolder(uid: string): string {
  return `${PLACES.kubeletRoot}/pods/${uid}`;
}

async function on(script: string): Promise<string> {
  return (await lab('run', NAME, '--', 'sh', '-c', script)).stdout;
}

/** Writes an object for the kubelet, atomically. */
async function put(object: KubernetesObject): Promise<void> {
  const { namespace, name } = object.metadata;
  const folder = `${PLACES.objects}/${object.kind.toLowerCase()}s/${namespace}`;
  const text = JSON.stringify(object).replaceAll("'", String.raw`'\''`);
  await on(`cd ${folder} && printf %s '${text}' >${name}.next && mv ${name}.next ${name}.json`);
}

async function report(words: KubeletChanges): Promise<void> {
  await on(`cd ${PLACES.lab} && echo '${JSON.stringify(words)}' >k.next && mv k.next kubelet.json`);
  await until('it goes by them', `cat ${PLACES.kubeletIteration}`, words.version);
}

async function until(what: string, script: string, wanted: string | RegExp): Promise<void> {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const output = await on(script);
    if (typeof wanted === 'string' ? output === wanted : wanted.test(output)) return;
    if (Date.now() > end) throw new Error(`it never came to it: ${what}; at last: ${output}`);
    await sleep(100);
  }
}

const SETTINGS = 'web-settings';
function settings(text: string): KubernetesObject {
  const metadata = { name: SETTINGS, namespace: PRACTICE_NAMESPACE };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'nginx.conf': text } };
}

const mountLine = `grep ' ${TARGET} ' /proc/self/mountinfo`;
const endContainer =
  `for process in /proc/[0-9]*; do grep -qs pod${WEB_POD.uid} $process/cgroup && ` +
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
  'kill -9 ${process#/proc/}; done; true';
/** A command that prints a page of the kubelet, without curl and without our Node.js. */
function page(path: string): string {
  const ask = String.raw`printf "GET ${path} HTTP/1.0\r\n\r\n" >&3; sed "1,/^\r\$/d" <&3`;
  return `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${READ_ONLY_PORT}; ${ask}'`;
}
const podList = page('/pods');

beforeAll(async () => {
  const { code, stderr } = await lab('up', NAME, '--runtime', 'stand-in');
  if (code !== 0) throw new Error(stderr);
});
afterAll(async () => {
  await lab('down', NAME);
});

test('the stand-in kubelet runs only on a practice node', async () => {
  const { code, stderr } = await runProgram([EXECUTABLE, 'lab-part', 'kubelet']);
  expect(code).not.toBe(0);
  expect(stderr).toContain('not a practice node');
});

test('the stand-in kubelet serves a CPU profile and a goroutine dump', async () => {
  const profiled = await lab('run', NAME, '--', 'kubediag', 'profile', 'kubelet', '--seconds', '2');
  expect(profiled).toMatchObject({ code: 0 });
  expect(profiled.stdout).toMatch(/^\d+ ms of cpu in 2\.\d s .*functions$/m);
  const stacks = await lab('run', NAME, '--', 'kubediag', 'stacks');
  expect(stacks).toMatchObject({ code: 0 });
  expect(stacks.stdout).toContain('sync loop  waits for its next work');
});

test('v1.18.8 reuses a subPath mount whose source is gone, so its container cannot start', async () => {
  await report({ version: 'v1.18.8', collects: true });
  await put(settings('changed\n'));
  await until('the source is gone', mountLine, /\/\/deleted /);
  await on(endContainer);
  await until('the runtime refuses it', podList, /"reason":"CrashLoopBackOff"/);
  expect(await on(podList)).toContain('"reason":"StartError"');
  expect(await on(mountLine)).toContain('//deleted ');
  await on(`umount ${TARGET}`);
  await until(
    'it was mounted again',
    `${mountLine}; cat ${TARGET}`,
    /nginx.conf \/[\s\S]*changed\n$/,
  );
});

test('v1.36.3 remounts a stale subPath when the container restarts', async () => {
  await report({ version: 'v1.36.3', collects: true });
  await put(settings('changed again\n'));
  await until('the source is gone', mountLine, /\/\/deleted /);
  await on(endContainer);
  await until('it was mounted again', `cat ${TARGET}`, 'changed again\n');
  expect(await on(mountLine)).not.toContain('deleted');
});

test('a deleted pod leaves nothing behind', async () => {
  const pod = { name: 'short', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8cff' };
  const volumes = [
    { name: 'settings', configMap: { name: SETTINGS } },
    { name: 'own', emptyDir: { medium: 'Memory' } },
  ];
  await put(
    podOf(pod, volumes, [
      { name: 'settings', mountPath: '/a', subPath: 'nginx.conf' },
      { name: 'own', mountPath: '/b' },
    ]),
  );
  const mounts = `grep -c ${pod.uid} /proc/self/mountinfo`;
  await until('it has its mounts', mounts, '2\n');
  await on(`rm ${PLACES.objects}/pods/${PRACTICE_NAMESPACE}/short.json`);
  await until('they are gone', `${mounts}; ls -d ${podFolder(pod.uid)}`, '0\n');
});

test('a dead mount of an orphan blocks the sync loop: HTTP answers, but no pod starts', async () => {
  await report({ version: 'v1.18.8', collects: true });
  const orphan = `${podFolder('1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8cfe')}/volumes/kubernetes.io~nfs/a`;
  const late = { name: 'late', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8cfd' };
  await on(
    `mkdir -p ${orphan}.new && ${PLACES.executable} lab-part file-server ${orphan}.new >/run/silent 2>&1 & ` +
      'echo $! >/run/silent.pid; until grep -q ready /run/silent; do sleep 0.1; done',
  );
  const health = page('/healthz');
  await until('its health check fails', health, /^\[-\]syncloop failed: reason withheld$/m);
  await put(podOf(late, [], []));
  const stacks = page('/debug/pprof/goroutine?debug=1');
  expect(await on(stacks)).toContain('cleanupOrphanedPodDirs');
  await sleep(1_000);
  expect(await on(podList)).not.toContain(late.uid);
  await on('kill -9 $(cat /run/silent.pid)');
  await until('it goes on', health, 'ok');
  await until('the pod is taken up', podList, new RegExp(late.uid));
  expect(await on(stacks)).not.toContain('cleanupOrphanedPodDirs');
});
