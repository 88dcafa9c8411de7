import { describe, expect, test } from 'vitest';
import { makeFolder, makeProc, makeProcess } from '../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import { containers } from '../evidence/containers/containers.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { pods } from '../evidence/pods/pods.ts';
import { redactionRules } from '../faults/index.ts';
import type { Answer, Question, QuestionKind } from '../model/node-reader.ts';
import { questionOf } from '../recording/recording.ts';
import { redactAnswer } from './redact.ts';

const SECRET = 'hunter2';
const VIEW = '/proc/812/root';
const SOCKET = '/run/containerd/containerd.sock';
const HTTP = { scheme: 'http', address: '127.0.0.1', port: 10255 } as const;

const CONFIG = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration # ${SECRET}
address: 0.0.0.0
readOnlyPort: 10255
containerRuntimeEndpoint: unix://${SOCKET}
staticPodURLHeader: { Authorization: [Bearer ${SECRET}] }
clusterDomain: ${SECRET}.example
registerWithTaints: [{ key: a, value: ${SECRET} }]
maxPods: 110
`;

const STALE = '/var/lib/kubelet/pods/6f1c2a9e/volume-subpaths/cfg/app/0';
const REFUSED =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc ' +
  'create failed: unable to start container process: error during container init: error mounting ' +
  `"${STALE}" to rootfs at "/etc/cfg": mount ${STALE}:/etc/cfg (via /proc/self/fd/6), ` +
  'flags: 0x5000: no such file or directory: unknown';
const TERMINATED = { exitCode: 128, reason: 'StartError', message: REFUSED };

const POD = {
  metadata: {
    name: 'web-0',
    namespace: 'shop',
    uid: '6f1c2a9e',
    labels: { owner: SECRET },
    deletionTimestamp: '2026-01-01T00:00:00Z',
    annotations: { 'kubernetes.io/config.hash': 'abc', 'last-applied': SECRET },
    managedFields: [{ manager: SECRET }],
  },
  spec: {
    restartPolicy: 'Never',
    nodeName: 'worker-7',
    imagePullSecrets: [{ name: SECRET }],
    initContainers: [{ name: 'init', args: [SECRET], env: [{ name: 'A', value: SECRET }] }],
    containers: [
      {
        name: 'app',
        image: 'registry/app:1',
        command: ['run', SECRET],
        env: [{ name: 'PASSWORD', value: SECRET }],
        livenessProbe: { exec: { command: [SECRET] } },
        volumeMounts: [{ name: 'cfg', mountPath: '/etc/cfg', subPath: 'a.txt', readOnly: true }],
      },
    ],
    volumes: [
      { configMap: { name: 'settings', items: [{ key: SECRET }] }, name: 'cfg' },
      { name: 'all', projected: { sources: [{ secret: { name: 's', items: [SECRET] } }] } },
      { name: 'flex', flexVolume: { driver: 'v/d', options: { password: SECRET } } },
      { name: 'csi', csi: { driver: 'd', volumeAttributes: { path: SECRET } } },
    ],
  },
  status: {
    phase: 'Failed',
    podIP: SECRET,
    containerStatuses: [
      {
        name: 'app',
        restartCount: 3,
        containerID: 'containerd://4f',
        state: { waiting: { reason: 'CrashLoopBackOff', extra: SECRET } },
        lastState: { terminated: TERMINATED },
        env: SECRET,
      },
    ],
  },
};

const LABELS = {
  'io.kubernetes.pod.uid': '6f1c2a9e',
  'io.kubernetes.pod.name': 'web-0',
  'io.kubernetes.pod.namespace': 'shop',
  'io.kubernetes.container.name': 'app',
  owner: SECRET,
};
const ANNOTATIONS = {
  'io.kubernetes.container.hash': '1f',
  'io.kubernetes.container.preStopHandler': `{"exec":{"command":["${SECRET}"]}}`,
  'io.kubernetes.cri-o.Annotations': SECRET,
  'kubectl.kubernetes.io/last-applied-configuration': SECRET,
};

function wholeNode(): NodeMaker {
  const words = [
    '/usr/bin/kubelet',
    '--config=/etc/kubelet.yaml',
    '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap.conf',
    `--bootstrap-token=${SECRET}`,
    '--registry-password',
    SECRET,
    `--node-labels=zone=a,api-key=${SECRET}`,
    `--log-url=https://me:${SECRET}@log.example/x`,
    '--authentication-token-webhook',
    `--log-url=https://me:pa,${SECRET}@log.example/x`,
    `--event-url=https://log.example/in?sv=1&sig=${SECRET}`,
    `--kubelet-arg=node-labels=a=b,api-key=${SECRET}`,
    `--agent-token=/${SECRET}+/base64=`,
    '--client-secret',
    `/${SECRET}`,
    '--client-secret',
    `-${SECRET}`,
    `/in?sig=${SECRET}`,
    '--hostname-override=worker-7',
  ];
  const maker = makeProcess(makeProc(new NodeMaker(), [812]), { words });
  makeFolder(maker, VIEW, '/var/lib/kubelet').file(`${VIEW}/etc/kubelet.yaml`, CONFIG);
  const metrics = `kubernetes_build_info{git_version="v1.18.8"} 1\nx{pod="${SECRET}"} 1\n`;
  const status = { id: '4f', exitCode: 128, message: REFUSED, finishedAt: '5' };
  const runtime = <K extends Question<'runtime'>>(question: K, message: unknown) =>
    maker.set('runtime', question, { answer: { criVersion: 'v1', message } });
  runtime({ socket: SOCKET, call: 'Version' }, { runtimeName: 'containerd', runtimeVersion: '1' });
  runtime(
    { socket: SOCKET, call: 'ListPodSandbox' },
    {
      items: [{ id: '5a', metadata: { name: 'web-0', uid: '6f1c2a9e' }, annotations: ANNOTATIONS }],
    },
  );
  runtime(
    { socket: SOCKET, call: 'ListContainers' },
    {
      containers: [
        {
          id: '4f',
          podSandboxId: '5a',
          state: 'CONTAINER_EXITED',
          createdAt: '4',
          labels: LABELS,
          annotations: ANNOTATIONS,
          envs: [{ key: 'A', value: SECRET }],
        },
      ],
    },
  );
  runtime(
    { socket: SOCKET, call: 'ContainerStatus', id: '4f' },
    { status: { ...status, annotations: ANNOTATIONS }, info: { config: SECRET } },
  );
  return maker
    .set('kubelet', { ...HTTP, path: '/metrics' }, { answer: { status: 200, body: metrics } })
    .set(
      'kubelet',
      { ...HTTP, path: '/pods' },
      { answer: { status: 200, body: JSON.stringify({ kind: 'PodList', items: [POD] }) } },
    );
}

function redacted(maker: NodeMaker): NodeMaker {
  const copy = new NodeMaker();
  for (const [key, recorded] of maker.answers) {
    const { kind, question } = questionOf(key);
    const safe =
      'answer' in recorded
        ? { answer: redactAnswer(kind, question, recorded.answer, redactionRules) }
        : recorded;
    copy.answers.set(key, safe);
  }
  return copy;
}

function redact<K extends QuestionKind>(kind: K, question: Question<K>, answer: Answer<K>) {
  return redactAnswer(kind, question, answer, redactionRules);
}

describe('a redacted node', () => {
  const maker = wholeNode();
  const copy = redacted(maker);

  test.each([...maker.answers.keys()])('has no secret in %s', (key) => {
    expect(JSON.stringify(copy.answers.get(key))).not.toContain(SECRET);
  });

  test('was not without secrets', () => {
    const places = [...maker.answers.values()].filter((recorded) =>
      JSON.stringify(recorded).includes(SECRET),
    );
    expect(places).toHaveLength(7);
  });

  test.each([kubelet, kubeletVersion, pods, containers])('gives the same $id', async (evidence) => {
    const original = await takeSnapshot(maker.build()).of<unknown>(evidence);
    expect(await takeSnapshot(copy.build()).of<unknown>(evidence)).toEqual(original);
  });

  test('is the same when it is redacted again', () => {
    expect(redacted(copy).answers).toEqual(copy.answers);
  });

  test('still has what a person wants to know about a pod', () => {
    const key = [...copy.answers.keys()].find((name) => name.includes('/pods')) ?? '';
    const text = JSON.stringify(copy.answers.get(key));
    for (const word of ['settings', 'a.txt', 'StartError', 'registry/app:1', 'v/d']) {
      expect(text).toContain(word);
    }
  });
});

describe('a file', () => {
  const config = { path: `${VIEW}/etc/rancher/k3s/config.yaml` };

  test('of k3s retains the arguments of the kubelet that we read', () => {
    const text = `token: ${SECRET}\nnode-name: n\nkubelet-arg: [root-dir=/d, "x-token=${SECRET}"]`;
    expect(JSON.parse(redact('file', config, text))).toEqual({
      token: '<redacted>',
      'node-name': 'n',
      'kubelet-arg': ['root-dir=/d', 'x-token=<redacted>'],
    });
  });

  test('of edgecore retains the settings of the kubelet inside', () => {
    const edged = { rootDirectory: '/d', remoteRuntimeEndpoint: 'unix:///run/c@1.sock' };
    const text = JSON.stringify({ modules: { edged, edgeHub: { token: SECRET } } });
    expect(JSON.parse(redact('file', config, text))).toEqual({
      modules: { edged, edgeHub: { token: '<redacted>' } },
    });
  });

  test('of arguments retains them except private ones', () => {
    const text = `# ${SECRET}\n--root-dir=\${SNAP_COMMON}/k --token ${SECRET}\n--v=2`;
    const path = `${VIEW}/var/snap/microk8s/5891/args/kubelet`;
    expect(redact('file', { path }, text)).toBe(
      `--root-dir=\${SNAP_COMMON}/k\n--token\n<redacted>\n--v=2\n`,
    );
  });

  test.each([`a: [${SECRET}`, `- ${SECRET}`, SECRET, `&a [*a, ${SECRET}]`, `port: ${SECRET}`])(
    'that is malformed retains nothing of it: %s',
    (text) => expect(redact('file', config, text)).not.toContain(SECRET),
  );

  test('that is not the kernel’s and that nobody here knows is withheld', () => {
    expect(redact('file', { path: '/etc/shadow' }, SECRET)).toBe('<redacted>');
    expect(redact('file', { path: '/proc/812/environ' }, SECRET)).toBe('<redacted>');
    expect(redact('file', { path: '/proc/812/mountinfo' }, 'a line')).toBe('a line');
  });
});

describe('a page of the kubelet', () => {
  test.each([
    ['/pods', 200, SECRET],
    ['/pods', 403, `Forbidden ${SECRET}`],
    ['/pods', 200, JSON.stringify({ items: SECRET })],
    ['/pods', 200, JSON.stringify([SECRET])],
    ['/pods', 200, JSON.stringify({ items: [SECRET, null, { metadata: SECRET }] })],
    ['/configz', 200, SECRET],
    ['/metrics', 200, `a{b="${SECRET}"} 1`],
  ])('%s that answers %i with %s', (path, status, body) => {
    const answer = redact('kubelet', { ...HTTP, path }, { status, body });
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain(SECRET);
  });

  test('without pods stays one without pods', () => {
    const empty = { status: 200, body: '{"kind":"PodList","items":null}' };
    expect(redact('kubelet', { ...HTTP, path: '/pods' }, empty).body).toBe('{"items":null}');
  });
});
