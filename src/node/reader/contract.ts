import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attempt } from '../model/evidence.ts';
import { type NodeReader, ReadError } from '../model/node-reader.ts';

const PAGES: Readonly<Record<string, string>> = {
  '/pods': '{"items":[]}',
  '/stacks': 'goroutine 1 [select]:\nmain.main()\n\t/main.go:1 +0x1\n',
  '/profile': 'a profile',
};

/** What every node reader promises. `makeReader` may read the live one first. */
export function describeNodeReader(
  name: string,
  makeReader: (visit: (node: NodeReader) => Promise<void>) => Promise<NodeReader>,
): void {
  describe(`the ${name} node`, () => {
    const scratch = mkdtempSync(join(tmpdir(), 'kubediag-node-reader-'));
    const kubelet = createServer((request, response) => {
      const body = PAGES[request.url ?? ''];
      response.statusCode = body === undefined ? 401 : 200;
      response.end(body ?? 'Unauthorized');
    });
    let node: NodeReader;
    let port: number;

    beforeAll(async () => {
      writeFileSync(join(scratch, 'plain'), 'one\ntwo\n');
      writeFileSync(join(scratch, 'bytes'), Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0x0a]));
      writeFileSync(join(scratch, 'script'), '#!/bin/sh\necho "Kubernetes v1.18.8 $1"\n');
      chmodSync(join(scratch, 'script'), 0o755);
      symlinkSync('plain', join(scratch, 'link'));
      mkdirSync(join(scratch, 'folder'));
      mkdirSync(join(scratch, 'tree/a/volumes/x/below'), { recursive: true });
      mkdirSync(join(scratch, 'tree/b/volumes'), { recursive: true });
      writeFileSync(join(scratch, 'tree/c'), '');
      writeFileSync(Buffer.concat([Buffer.from(join(scratch, 'folder/')), Buffer.of(0xfe)]), '');
      await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
      port = (kubelet.address() as AddressInfo).port;
      node = await makeReader(visitAll);
    });

    afterAll(() => {
      kubelet.close();
      rmSync(scratch, { recursive: true });
    });

    const at = (path: string) => ({ path: join(scratch, path) });
    const http = (path: string) => ({ scheme: 'http', address: '127.0.0.1', port, path }) as const;

    const trees = [
      { ...at('tree'), levels: ['*', 'volumes'] },
      { ...at('tree'), levels: ['*', 'volumes', '*'] },
      { ...at('absent'), levels: ['*'] },
    ];
    const entries = { path: scratch, names: ['folder', 'tree', 'link', 'absent', 'plain'] };
    const held = { filesOf: process.pid, under: [process.cwd()], mountIds: [] };

    const searched = (path: string) => ({
      log: { file: join(scratch, path) },
      containing: ['two', 'three'],
      lastBytes: 1024,
    });

    /** Asks everything below once, so that a recording of it can answer. */
    async function visitAll(visited: NodeReader): Promise<void> {
      for (const path of ['plain', 'bytes', 'link', 'folder', 'absent']) {
        await attempt(visited.ask('file', at(path)));
        await attempt(visited.ask('link', at(path)));
        await attempt(visited.ask('status', at(path)));
        await attempt(visited.ask('folder', at(path)));
      }
      for (const question of trees) await attempt(visited.ask('tree', question));
      await attempt(visited.ask('entries', entries));
      await attempt(visited.ask('processes', { all: 'processes' }));
      await attempt(visited.ask('threads', { threadsOf: process.pid }));
      await attempt(visited.ask('openFiles', held));
      await attempt(visited.ask('log', searched('plain')));
      await attempt(visited.ask('log', searched('absent')));
      await attempt(visited.ask('kubelet', http('/pods')));
      await attempt(visited.ask('kubelet', http('/metrics')));
      for (const path of ['/stacks', '/pods', '/metrics']) {
        await attempt(visited.ask('goroutines', { ...http(path), as: 'goroutines' }));
      }
      await attempt(visited.ask('profile', { ...http('/profile'), seconds: 1 }));
      await attempt(visited.ask('runtime', { socket: join(scratch, 'no.sock'), call: 'Version' }));
      await attempt(visited.ask('version', { program: join(scratch, 'script'), arguments: ['a'] }));
    }

    test('reads a file, through a link too', async () => {
      expect(await node.ask('file', at('plain'))).toBe('one\ntwo\n');
      expect(await node.ask('file', at('link'))).toBe('one\ntwo\n');
    });

    test('preserves bytes that are no text', async () => {
      expect(await node.ask('file', at('bytes'))).toBe('a\udcffé\n');
      expect(await node.ask('folder', at('folder'))).toEqual(['\udcfe']);
    });

    test('reports the type of a path without following it', async () => {
      expect(await node.ask('link', at('link'))).toBe('plain');
      expect(await node.ask('status', at('link'))).toMatchObject({ type: 'link' });
      expect(await node.ask('status', at('plain'))).toMatchObject({ type: 'file', sizeBytes: 8 });
      expect(await node.ask('status', at('folder'))).toMatchObject({ type: 'folder' });
    });

    test('lists the directories that match, and names what they hold', async () => {
      const [shallow, deep, absent] = trees.map((question) => node.ask('tree', question));
      const byFolder = (left: { folder: string }, right: { folder: string }) =>
        left.folder < right.folder ? -1 : 1;
      expect((await shallow)?.toSorted(byFolder)).toEqual([
        { folder: 'a/volumes', names: ['x'] },
        { folder: 'b/volumes', names: [] },
      ]);
      expect(await deep).toEqual([{ folder: 'a/volumes/x', names: ['below'] }]);
      await expect(absent).rejects.toMatchObject({ failure: 'missing' });
    });

    test('reports the types of many entries, and which directories are empty', async () => {
      expect(await node.ask('entries', entries)).toMatchObject([
        { name: 'folder', status: { type: 'folder' }, isEmpty: false },
        { name: 'tree', status: { type: 'folder' }, isEmpty: false },
        { name: 'link', status: { type: 'link' }, isEmpty: null },
        { name: 'absent', status: null, isEmpty: null },
        { name: 'plain', status: { type: 'file' }, isEmpty: null },
      ]);
    });

    test('knows processes, their threads and what they hold open', async () => {
      const ours = (await node.ask('processes', { all: 'processes' })).find(
        ({ pid }) => pid === process.pid,
      );
      expect(ours?.parent).toBe(process.ppid);
      expect(ours?.startTime).toMatch(/^\d+$/);
      expect(ours?.mountNamespace).toMatch(/^mnt:\[\d+\]$/);
      const threads = await node.ask('threads', { threadsOf: process.pid });
      expect(threads.map(({ tid }) => tid)).toContain(process.pid);
      const files = await node.ask('openFiles', held);
      expect(files).toContainEqual({ by: 'cwd', path: process.cwd() });
    });

    test('picks lines out of a log, and says what was looked for', async () => {
      expect(await node.ask('log', searched('plain'))).toMatchObject({
        lines: [{ number: 2, text: 'two' }],
        containing: ['two', 'three'],
        counts: [1, 0],
        first: 'one',
        last: 'two',
        linesRead: 2,
        bytesRead: 8,
        isWhole: true,
      });
      const absent = node.ask('log', searched('absent'));
      await expect(absent).rejects.toMatchObject({ failure: 'missing' });
    });

    test('passes on what the kubelet answers, whatever its status', async () => {
      expect(await node.ask('kubelet', http('/pods'))).toEqual({
        status: 200,
        body: '{"items":[]}',
      });
      expect(await node.ask('kubelet', http('/metrics'))).toMatchObject({ status: 401 });
    });

    test('asks the kubelet what it is doing', async () => {
      const ask = (path: string) => node.ask('goroutines', { ...http(path), as: 'goroutines' });
      expect(await ask('/stacks')).toMatchObject({ total: 1, groups: [{ state: 'select' }] });
      await expect(ask('/pods')).rejects.toMatchObject({ failure: 'malformed' });
      await expect(ask('/metrics')).rejects.toMatchObject({
        failure: 'denied',
        detail: 'HTTP 401: Unauthorized',
      });
      const profile = await node.ask('profile', { ...http('/profile'), seconds: 1 });
      expect(Buffer.from(profile, 'base64').toString()).toBe('a profile');
    });

    test('asks a program for its version, with an argument and no shell', async () => {
      const question = { program: join(scratch, 'script'), arguments: ['a'] };
      expect(await node.ask('version', question)).toBe('Kubernetes v1.18.8 a\n');
    });

    test('says that something is missing, and nothing else escapes', async () => {
      const runtime = node.ask('runtime', { socket: join(scratch, 'no.sock'), call: 'Version' });
      await expect(runtime).rejects.toMatchObject({ failure: 'missing' });
      await expect(node.ask('file', at('absent'))).rejects.toMatchObject({ failure: 'missing' });
      await expect(node.ask('folder', at('plain'))).rejects.toBeInstanceOf(ReadError);
      await expect(node.ask('link', at('plain'))).rejects.toBeInstanceOf(ReadError);
      await expect(node.ask('file', at('folder'))).rejects.toBeInstanceOf(ReadError);
    });

    test('has a clock', () => {
      expect(node.now().getTime()).toBeGreaterThan(Date.parse('2020-01-01'));
    });
  });
}
