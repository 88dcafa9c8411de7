import { expect, test } from 'vitest';
import { podOfCgroup, podsInCgroup } from './pod-of-cgroup.ts';

const UID = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const SLICE = 'kubepods-besteffort-pod29da79e5_386c_4e0d_82c1_215f93ff955d.slice';

test.each([
  [`/kubepods/burstable/pod${UID}/4f0c`, UID],
  [`/kubepods/pod${UID}`, UID],
  [`/kubepods.slice/kubepods-besteffort.slice/${SLICE}/cri-containerd-4f0c.scope`, UID],
  [`/system.slice/containerd.service/${SLICE}:cri-containerd:4f0c`, UID],
  [`/podman/kubelet/kubepods/pod${UID}/4f0c`, UID],
  [
    '/kubepods/besteffort/pod0123456789abcdef0123456789abcdef/4f0c',
    '0123456789abcdef0123456789abcdef',
  ],
  ['/kubepods/besteffort/podmy-proxy/4f0c', 'my-proxy'],
  ['/system.slice/kubelet.service', undefined],
  ['/machine.slice/podman-4711.scope', undefined],
  ['/podman/4711', undefined],
  ['/kubepods', undefined],
])('%s belongs to pod %s', (path, uid) => {
  expect(podOfCgroup(['/', path])).toBe(uid);
  if (uid !== undefined) expect(podsInCgroup(path)).toContain(uid);
});

test("podsInCgroup also finds pods outside of the kubelet's cgroups", () => {
  expect(podsInCgroup(`/other/pod${UID}/4f0c`)).toEqual([UID]);
});
