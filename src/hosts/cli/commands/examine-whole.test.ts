import { describe, expect, test } from 'vitest';
import { examinedReport } from './examine.ts';

const WITHOUT_LOG_PATH = 'container-without-log-path';
const DEAD = 'dead-volume-mount';
const LEFTOVER = 'leftover-volume-directory';
const STALE = 'stale-subpath-mount';

describe('all that a fault needs', () => {
  const UID = '29da79e5-386c-4e0d-82c1-215f93ff955d';
  const ID = '4f0c2a9e1b7d8aa04f0c2a9e1b7d8aa04f0c2a9e1b7d8aa04f0c2a9e1b7d8aa0';
  const volume = `/var/lib/kubelet/pods/${UID}/volumes/kubernetes.io~secret/key`;
  const labels = {
    'io.kubernetes.pod.uid': UID,
    'io.kubernetes.pod.name': 'web-0',
    'io.kubernetes.pod.namespace': 'shop',
    'io.kubernetes.container.name': 'app',
  };
  const container = { id: ID, podSandboxId: 'a1', metadata: { name: 'app' }, labels };
  const collected = (name: string, text: string) =>
    `# kubediag-collector 2: ${name}\n${text}\n# end\n`;
  const whole: Readonly<Record<string, string>> = {
    mounts: collected(
      'cat /proc/812/mountinfo',
      '22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n' +
        `30 22 0:40 / ${volume} rw,relatime - tmpfs tmpfs rw\n`,
    ),
    version: 'Kubernetes v1.18.8\n',
    pods: JSON.stringify({
      kind: 'PodList',
      items: [{ metadata: { name: 'web-0', namespace: 'shop', uid: UID }, status: {} }],
    }),
    containers: JSON.stringify({ containers: [{ ...container, state: 'CONTAINER_RUNNING' }] }),
    sandboxes: JSON.stringify({
      items: [{ id: 'a1', metadata: { name: 'web-0', uid: UID }, state: 'SANDBOX_READY' }],
    }),
    inspect: JSON.stringify({
      status: { ...container, state: 'CONTAINER_RUNNING', logPath: '/var/log/pods/a/0.log' },
    }),
    log: collected('journalctl', 'I1115 08:00:00.000000 812 kubelet.go:1] SyncLoop (housekeeping)'),
    volumes: collected('volumes.txt', `${volume}\n`),
    links: 'lrwxrwxrwx 1 root root 7 Jun  2  2021 /bin -> usr/bin\n',
  };
  const reportOf = (given: Readonly<Record<string, string>>) => {
    const files = Object.entries(given).map(([name, text]) => ({ name, text }));
    return examinedReport({ files, unread: [] }, 0);
  };
  const verdicts = async (given: Readonly<Record<string, string>>) => {
    const { faults } = await reportOf(given);
    return Object.fromEntries(faults.map(({ name, verdict }) => [name, verdict]));
  };
  const bare = (text = '') => text.replace(/^# .*\n/, '').replace(/\n# end\n$/, '');

  test('makes it clear; no text can say whether a mount answers', async () => {
    expect(await verdicts(whole)).toMatchObject({
      [STALE]: 'clear',
      [WITHOUT_LOG_PATH]: 'clear',
      [LEFTOVER]: 'clear',
      [DEAD]: 'unknown',
    });
  });

  test.each([
    ['mounts', STALE],
    ['version', STALE],
    ['pods', STALE],
    ['containers', STALE],
    ['sandboxes', STALE],
    ['inspect', WITHOUT_LOG_PATH],
    ['log', WITHOUT_LOG_PATH],
    ['links', WITHOUT_LOG_PATH],
    ['volumes', LEFTOVER],
  ])('without the %s it is not clear of %s', async (missing, fault) => {
    const { [missing]: _, ...rest } = whole;
    expect((await verdicts(rest))[fault]).toBe('unknown');
  });

  test('is not all when the table, or the log, is a part', async () => {
    const part = { ...whole, mounts: bare(whole.mounts).split('\n')[1] ?? '' };
    expect((await verdicts(part))[STALE]).toBe('unknown');
    const excerpt = { ...whole, log: bare(whole.log) };
    expect((await verdicts(excerpt))[WITHOUT_LOG_PATH]).toBe('unknown');
  });

  test.each([
    ['mounts', STALE],
    ['version', STALE],
    ['pods', STALE],
    ['containers', STALE],
    ['sandboxes', STALE],
    ['inspect', WITHOUT_LOG_PATH],
    ['log', WITHOUT_LOG_PATH],
    ['links', WITHOUT_LOG_PATH],
    ['volumes', LEFTOVER],
  ])('where the %s are cut, wherever, it is not clear of %s', async (name, fault) => {
    const text = whole[name] ?? '';
    const places = [1, 7, text.length >> 2, text.length >> 1, text.length - 9, text.length - 1];
    for (const place of places) {
      const cut = { ...whole, [name]: text.slice(0, place) };
      expect((await verdicts(cut))[fault]).toBe('unknown');
    }
  });

  test('a mount table that nobody collected ends with a line, not in the middle of one', async () => {
    const plain = bare(whole.mounts);
    expect((await verdicts({ ...whole, mounts: plain }))[STALE]).toBe('clear');
    for (const cut of [plain.slice(0, -1), plain.slice(0, -4), plain.slice(0, -30)]) {
      expect((await verdicts({ ...whole, mounts: cut }))[STALE]).toBe('unknown');
    }
  });

  test('a list in YAML may have gone on', async () => {
    const pod = `- kind: Pod\n  metadata:\n    name: web-0\n    uid: ${UID}\n`;
    const pods = `apiVersion: v1\nitems:\n${pod}`;
    expect((await verdicts({ ...whole, pods: `${pods}kind: List\n` }))[STALE]).toBe('clear');
    expect((await verdicts({ ...whole, pods }))[STALE]).toBe('unknown');
  });

  test('a note of the collector makes a verdict unknown', async () => {
    const note = 'kubelet: process 77 may be one, too; process 12 was taken';
    const { faults, examined } = await reportOf({
      ...whole,
      notes: collected('notes.txt', `${note}\n`),
    });
    expect(faults.map(({ verdict }) => verdict)).not.toContain('clear');
    expect(faults.every(({ reason }) => reason?.includes(note))).toBe(true);
    const taken = examined?.files.find(({ name }) => name === 'notes');
    expect(taken?.detectedAs).toEqual(['what our collector could not read']);
  });

  test('a note on a file is reported for the evidence of that file', async () => {
    const { pods: _, ...rest } = whole;
    const notes = collected('notes.txt', 'pods.txt: ended with 7: curl: (7) Failed to connect\n');
    const { faults } = await reportOf({ ...rest, notes });
    const stale = faults.find(({ name }) => name === STALE);
    expect(stale?.reason).toContain('pods (pods.txt: ended with 7');
    const left = faults.find(({ name }) => name === LEFTOVER);
    expect(left?.verdict).toBe('clear');
    // A table that is there is not the kubelet's when the collector says so.
    const other = collected('notes.txt', 'mountinfo.txt: no kubelet runs: those of process 1\n');
    expect((await verdicts({ ...whole, notes: other }))[STALE]).toBe('unknown');
  });

  test('a thread that waits for a filesystem is a suspicion, and no more', async () => {
    const threads = collected(
      'kubelet-threads.txt',
      '--- /proc/812/task/812\ncomm: kubelet\nwchan: futex_wait_queue\nState:\tS (sleeping)\n' +
        '--- /proc/812/task/840\ncomm: kubelet\nwchan: request_wait_answer\nState:\tS (sleeping)\n',
    );
    const { faults } = await reportOf({ threads });
    const dead = faults.find(({ name }) => name === DEAD);
    expect(dead?.verdict).toBe('unknown');
    expect(dead?.reason).toContain('thread 840 of the kubelet waiting for a filesystem');
  });

  test('the root comes from the command line; the working directory is for a person', async () => {
    const { node, examined } = await reportOf({
      words: collected('kubelet-cmdline.txt', '/usr/bin/kubelet\n--root-dir=/data/kubelet\n'),
      folder: collected('working-folder.txt', '/:\ntotal 8\ndrwxr-xr-x 2 root root 40 bin\n'),
      machine: collected('uname -a', 'Linux worker-7 3.10.0 x86_64 GNU/Linux\n'),
    });
    expect(node.kubelet.root).toBe('/data/kubelet');
    expect(examined?.files.map(({ detectedAs }) => detectedAs.join())).toEqual([
      'the command line of the kubelet',
      expect.stringContaining('not judged'),
      expect.stringContaining('not judged'),
    ]);
  });
});
