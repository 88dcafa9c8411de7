import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePrivateNamespaces, type PrivateNamespaces } from '../test/rig/private-namespaces.ts';
import { EXECUTABLE } from '../test/rig/run-kubediag.ts';
import { labCgroup, removeCgroupTree } from './cgroups.ts';
import { MAKE_ROOT } from './private-root.ts';

const NAME = `r${process.pid}`;

/** Absolute symbolic links, as administrators create them to use another disk. */
const LINKS = `
  set -e
  mkdir -p /run/layer/upper /run/layer/work /run/disk/bin /run/disk/kubelet/pods/of-the-machine /run/disk/log
  mount -t overlay overlay -o lowerdir=/usr,upperdir=/run/layer/upper,workdir=/run/layer/work /usr
  echo precious >/run/disk/bin/kubediag
  chmod 700 /run/disk/kubelet /run/disk/log
  rm -rf /usr/local && ln -s /run/disk /usr/local
  mount -t tmpfs -o mode=755 var /var
  mkdir -p /var/lib/near/of-the-machine
  ln -s /run/disk/kubelet /var/lib/kubelet
  ln -s /run/disk/not-there /var/lib/containerd
  ln -s /var/lib/near /var/lib/kubediag
  ln -s /run/disk/log /var/log`;

const SEEN = 'find /run/disk /var /usr/local -printf "%p %y %m %n %s %T@ %l\\n" | sort';

describe('on a machine with absolute symbolic links', () => {
  let machine: PrivateNamespaces;
  let before: string;
  let refusal: string;
  const sh = (line: string) => machine.run('sh', '-c', line);
  const onNode = (line: string) =>
    machine.run(EXECUTABLE, 'lab', 'run', '--name', NAME, '--', 'sh', '-c', line);

  beforeAll(async () => {
    machine = await makePrivateNamespaces();
    await sh(LINKS);
    before = await sh(SEEN);
    const up = machine.run(EXECUTABLE, 'lab', 'up', '--name', NAME, '--runtime', 'stand-in');
    refusal = await up.then(
      () => '',
      ({ message }: Error) => message,
    );
  });

  afterAll(async () => {
    await machine.run(EXECUTABLE, 'lab', 'down', '--name', NAME);
    await machine.stop();
  });

  test('a practice node writes nothing through them', async () => {
    expect(await sh(SEEN)).toBe(before);
    expect(await sh('cat /run/disk/bin/kubediag')).toBe('precious\n');
  });

  test('a practice node has directories of its own in their place, and is well', async () => {
    expect(refusal).toBe('');
    expect(await onNode('find /var /opt -name of-the-machine')).toBe('');
    expect(await onNode('ls /var/lib/kubelet/pods')).not.toContain('of-the-machine');
    const places = '/usr/local /var/lib/kubelet /var/lib/containerd /var/lib/kubediag /var/log';
    expect(await onNode(`stat -c %F%a ${places} | sort -u`)).toBe('directory755\n');
    expect(await onNode('kubediag check')).toContain('clear');
  });

  test('changes on a practice node do not reach their targets', async () => {
    await onNode(
      'rm -rf /usr/local/bin /var/lib/near/* /var/lib/kubediag/*; touch /var/log/x /usr/local/x',
    );
    expect(await sh(SEEN)).toBe(before);
  });
});

describe('the root of a practice node', () => {
  let scratch: string;
  let node: PrivateNamespaces;
  let program: string;

  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'kubediag-root-'));
    const home = join(scratch, 'home');
    mkdirSync(home);
    program = join(scratch, 'tools/hello');
    mkdirSync(join(scratch, 'tools'));
    writeFileSync(program, '#!/bin/sh\necho hello\n');
    chmodSync(program, 0o755);
    const words = [home, NAME, EXECUTABLE, '', program, '/usr/bin/env'];
    node = await makePrivateNamespaces({
      also: ['net', 'uts'],
      begin: { lines: MAKE_ROOT, words },
    });
  });

  afterAll(async () => {
    await node.stop();
    await removeCgroupTree(labCgroup(NAME));
    rmSync(scratch, { recursive: true });
  });

  test('has its programs, and cannot change them', async () => {
    expect(await node.run(program)).toBe('hello\n');
    await expect(node.run('sh', '-c', `echo x >${program}`)).rejects.toThrow('Read-only');
    expect(readdirSync(join(scratch, 'home'))).toEqual([]);
  });

  test('has no directory of the machine but those that hold programs', async () => {
    const usual = 'bin sbin lib lib32 lib64 libx32 usr etc var opt root nix gnu';
    const fixture = 'boot dev home mnt proc run sys tmp';
    const names = (await node.run('ls', '-A', '/')).trim().split('\n');
    expect(names.filter((name) => !`${usual} ${fixture}`.split(' ').includes(name))).toEqual([]);
    expect(await node.run('ls', '-A', '/home', '/mnt')).toBe('/home:\n\n/mnt:\n');
  });

  test('cannot use more memory than its limit', async () => {
    const mounts = (await node.run('cat', '/proc/self/mounts')).trimEnd().split('\n');
    const inMemory = mounts.filter((line) => line.split(' ')[2] === 'tmpfs');
    expect(inMemory.length).toBeGreaterThan(8);
    expect(inMemory.filter((line) => !/\bsize=\d+k/.test(line))).toEqual([]);
  });
});
