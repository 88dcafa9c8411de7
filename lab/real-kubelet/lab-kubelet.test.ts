import { expect, test } from 'vitest';
import { labKubelet } from './lab-kubelet.ts';

const SOCKET = 'unix:///run/containerd/containerd.sock';

function argumentsOf(version: string): {
  readonly words: readonly string[];
  readonly config: object;
} {
  const { words, files } = labKubelet('practice', version);
  return { words, config: files['/etc/kubernetes/kubelet.json'] ?? {} };
}

test('an old kubelet gets flags for settings that a new one reads from its file', () => {
  const old = argumentsOf('v1.18.8');
  const flags = ['--container-runtime=remote', `--container-runtime-endpoint=${SOCKET}`];
  expect(old.words).toEqual(expect.arrayContaining(flags));
  expect(Object.keys(old.config)).not.toContain('containerRuntimeEndpoint');
  // A kubelet exits at once on a removed flag.
  const current = argumentsOf('v1.36.3');
  expect(current.words.filter((word) => word.startsWith('--container-runtime'))).toEqual([]);
  expect(current.config).toMatchObject({ containerRuntimeEndpoint: SOCKET, failCgroupV1: false });
});

test.each(['v1.18.8', 'v1.23.17', 'v1.25.0', 'v1.36.3+k3s1'])(
  '%s answers every process on the node, and changes nothing on the machine',
  (version) => {
    expect(argumentsOf(version).config).toMatchObject({
      authentication: { anonymous: { enabled: true } },
      readOnlyPort: 10_255,
      protectKernelDefaults: true,
      makeIPTablesUtilChains: false,
    });
  },
);

test('an invalid version is rejected', () => {
  expect(() => labKubelet('practice', 'v2')).toThrow('no version of a kubelet: v2');
});
