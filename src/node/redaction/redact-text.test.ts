import { describe, expect, test } from 'vitest';
import { redactAnswer, redactDetail } from './redact.ts';

const SECRET = 'hunter2';

describe('a command line', () => {
  const commandLine = (...args: readonly string[]) =>
    redactAnswer('file', { path: '/proc/812/cmdline' }, args.join('\0')).split('\0');

  test.each([
    [`--url=https://me:pa,${SECRET}@host/x`],
    [`--url=mysql://me:pa/${SECRET}@tcp(db:3306)/k3s`],
    [`--urls=https://a,https://me:${SECRET}@b`],
    [`--urls=unix:///run/a.sock,https://me:${SECRET}@b`],
    [`--map=a=1,url=https://me:pa,${SECRET}@host`],
    [`--token=/${SECRET}`],
    [`--etcd-s3-secret-key=/${SECRET}`],
    ['--token', `/${SECRET}`],
    ['-t', `/${SECRET}`],
    ['--token', `-${SECRET}`],
    [`--blob=https://h/c?sv=1&sig=${SECRET}`],
    [`--blob=/c?sv=1&sig=${SECRET}`],
    [`--blob=https://h/c#access=${SECRET}`],
    [`--dsn=host=a;pwd=${SECRET}`],
    [`--kubelet-arg=node-labels=api-key=${SECRET}`],
    [`https://me:${SECRET}@host`],
  ])('removes the secret of %j %j', (...args) => {
    expect(commandLine('kubelet', ...args).join(' ')).not.toContain(SECRET);
  });

  test.each([
    ['--tls-private-key-file=/etc/kubernetes/kubelet.key'],
    ['--bootstrap-kubeconfig=/etc/kubernetes/bootstrap.conf'],
    ['--container-runtime-endpoint=unix:///run/c@1.sock'],
    ['--authentication-token-webhook', '--root-dir=/data/kubelet'],
    ['--authentication-token-webhook=true', '--node-labels=zone=a,disk=ssd'],
    ['--log-url=https://log.example:443/x'],
  ])('leaves %j %j as it is', (...args) => {
    expect(commandLine('kubelet', ...args)).toEqual(['kubelet', ...args]);
  });
});

describe('why a question failed', () => {
  test.each([
    ['exited', `panic: ${SECRET}`],
    ['failed', `cannot reach https://me:${SECRET}@registry.example/v2`],
    ['failed', `GET https://r.example/v2?sig=${SECRET}: 403`],
    ['failed', `rejected: Authorization: Bearer ${SECRET}`],
    ['failed', `bad configuration: password=${SECRET}, retries=3`],
    ['denied', `{"token": "${SECRET}"}`],
  ] as const)('%s has no secret: %s', (failure, detail) => {
    expect(redactDetail(failure, detail)).not.toContain(SECRET);
  });

  test.each([
    ['failed', "EIO: i/o error, read '/var/lib/kubelet/config.yaml'"],
    ['timeout', 'no answer from /run/containerd/containerd.sock within 5000 ms'],
    ['unsupported', 'unknown service runtime.v1.RuntimeService'],
    ['denied', "its listener is not root's, so no token is shown to it"],
    ['failed', 'it could not be started: spawn ENOEXEC'],
  ] as const)('%s stays as it is: %s', (failure, detail) => {
    expect(redactDetail(failure, detail)).toBe(detail);
  });
});
