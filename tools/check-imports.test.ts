import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importReport, importViolations } from './check-imports.ts';
import { folderOf, LAYERS, type Layer, MODULES, UNREACHABLE } from './import-table.ts';
import { moduleGraph, type Target } from './module-graph.ts';
import { filesBelow, TYPESCRIPT } from './source-files.ts';

/** A made-up tree: paths below src/, each with its text. */
function tree(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([path, text]) => ({ path: `src/${path}`, text }));
}

function nameOf(target: Target): string | undefined {
  return target.kind === 'package' ? target.name : undefined;
}

function rulesBroken(files: Readonly<Record<string, string>>): readonly string[] {
  return importViolations(tree(files)).map(({ path, line, rule }) => `${path}:${line} ${rule}`);
}

test('sources in order have no violation', () => {
  const broken = rulesBroken({
    'main.ts': "const host = await import('./hosts/cli/host.ts');",
    'hosts/cli/host.ts': [
      "import { Command } from 'commander';",
      "import { readFile } from 'node:fs/promises';",
      "import { faults } from '../../node/faults/index.ts';",
      "import { LiveNode } from '../../node/reader/live-node.ts';",
      "import { perform } from '../../node/repair/perform.ts';",
    ].join('\n'),
    'node/faults/index.ts': "import { one } from './one/fault.ts';",
    'node/faults/one/fault.ts': "import { diagnose } from './diagnose.ts';",
    'node/faults/one/diagnose.ts':
      "import type { Mount } from '../../evidence/mounts/mount-table.ts';",
    'node/evidence/mounts/mount-table.ts': "import { attempt } from '../../model/attempt.ts';",
    'node/model/evidence.ts': "import { ReadError } from './node-reader.ts';",
    'node/model/node-reader.ts': '',
    'node/reader/live-node.ts': "import { runChild } from '../../lib/process/run-child.ts';",
    'lib/process/run-child.ts': "import { spawn } from 'node:child_process';",
    'node/repair/perform.ts': "import type { NodeWriter } from './node-writer.ts';",
    'node/repair/node-writer.ts': '',
    'node/repair/live-writer.ts': "import { runChild } from '../../lib/process/run-child.ts';",
    'lib/cri/client.ts': "import { BinaryReader } from '@bufbuild/protobuf/wire';",
  });
  expect(broken).toEqual([]);
});

test.each([
  [
    'arrows point one way',
    { 'node/model/fault.ts': "import { mounts } from '../evidence/mounts/mount-table.ts';" },
    'src/node/model/fault.ts:1 allowed imports',
  ],
  [
    'a type is an import too',
    { 'node/checkup/run.ts': "\nimport type { Journal } from '../repair/journal.ts';" },
    'src/node/checkup/run.ts:2 allowed imports',
  ],
  [
    'a type written as import() is an import too',
    { 'node/checkup/run.ts': "let journal: import('../repair/journal.ts').Journal;" },
    'src/node/checkup/run.ts:1 allowed imports',
  ],
  [
    'a lazy import is an import too',
    { 'node/checkup/run.ts': "await import('../../hosts/cli/host.ts');" },
    'src/node/checkup/run.ts:1 allowed imports',
  ],
  [
    'a re-export is an import too',
    { 'node/checkup/run.ts': "export { perform } from '../repair/perform.ts';" },
    'src/node/checkup/run.ts:1 allowed imports',
  ],
  [
    'a re-export of everything is an import too',
    { 'node/checkup/run.ts': "export * from '../repair/perform.ts';" },
    'src/node/checkup/run.ts:1 allowed imports',
  ],
  [
    'an import must be readable',
    { 'hosts/cli/host.ts': 'await import(name);' },
    'src/hosts/cli/host.ts:1 readable imports',
  ],
  [
    'nothing is loaded past the imports',
    { 'hosts/cli/host.ts': "process.getBuiltinModule('node:child_process');" },
    'src/hosts/cli/host.ts:1 readable imports',
  ],
  [
    'nor by another name',
    { 'hosts/cli/host.ts': '\nconst { getBuiltinModule: load } = process;' },
    'src/hosts/cli/host.ts:2 readable imports',
  ],
  [
    'nor by a name in quotes',
    { 'hosts/cli/host.ts': "process['getBuiltinModule']('node:fs');" },
    'src/hosts/cli/host.ts:1 readable imports',
  ],
  [
    'nor by a require of our own making',
    { 'hosts/cli/host.ts': "import { createRequire } from 'node:module';" },
    'src/hosts/cli/host.ts:1 readable imports',
  ],
  [
    'no product code imports from outside src',
    { 'hosts/cli/host.ts': "import { made } from '../../../test/synthetic-node.ts';" },
    'src/hosts/cli/host.ts:1 product code stays in src',
  ],
  [
    'no product code imports a test',
    { 'hosts/cli/host.ts': "import { made } from './host.test.ts';" },
    'src/hosts/cli/host.ts:1 product code stays in src',
  ],
  [
    'the container runtime is reached from node and repair only',
    {
      'node/evidence/containers/containers.ts':
        "import { list } from '../../../lib/cri/client.ts';",
    },
    'src/node/evidence/containers/containers.ts:1 allowed imports',
  ],
  [
    'gRPC stays in cri',
    { 'node/reader/live-node.ts': "import { Client } from '@grpc/grpc-js';" },
    'src/node/reader/live-node.ts:1 packages have their modules',
  ],
  [
    'React stays in console',
    { 'hosts/web/server.ts': "import { useState } from 'react';" },
    'src/hosts/web/server.ts:1 packages have their modules',
  ],
  [
    'an unknown package belongs to no module',
    { 'hosts/cli/host.ts': "import { chalk } from 'chalk';" },
    'src/hosts/cli/host.ts:1 packages have their modules',
  ],
  [
    'a pure module imports no Node core module',
    { 'node/faults/one/diagnose.ts': "import { readFileSync } from 'node:fs';" },
    'src/node/faults/one/diagnose.ts:1 pure stays pure',
  ],
  [
    'nor one without its prefix',
    { 'lib/std/path.ts': "import { join } from 'path';" },
    'src/lib/std/path.ts:1 pure stays pure',
  ],
  [
    'evidence sees only the language of node',
    { 'node/evidence/mounts/mount-table.ts': "import { keyOf } from '../../reader/recording.ts';" },
    'src/node/evidence/mounts/mount-table.ts:1 pure stays pure',
  ],
  [
    'the language of node is pure itself',
    { 'node/model/evidence.ts': "import { keyOf } from '../reader/recording.ts';" },
    'src/node/model/evidence.ts:1 pure stays pure',
  ],
  [
    'only process starts a process',
    { 'hosts/cli/host.ts': "import { spawn } from 'node:child_process';" },
    'src/hosts/cli/host.ts:1 one module starts processes',
  ],
  [
    'only the live part of node uses process',
    {
      'node/reader/reach.ts': "import { runChild } from '../../lib/process/run-child.ts';",
    },
    'src/node/reader/reach.ts:1 one module starts processes',
  ],
  [
    'only the live writer of repair uses process',
    { 'node/repair/perform.ts': "import { runChild } from '../../lib/process/run-child.ts';" },
    'src/node/repair/perform.ts:1 one module starts processes',
  ],
  [
    'the writer stays in repair',
    { 'hosts/cli/host.ts': "import { LiveWriter } from '../../node/repair/live-writer.ts';" },
    'src/hosts/cli/host.ts:1 the writer stays in repair',
  ],
  [
    'the journal is written in repair alone',
    { 'hosts/cli/host.ts': "import { FileJournal } from '../../node/repair/file-journal.ts';" },
    'src/hosts/cli/host.ts:1 the writer stays in repair',
  ],
  [
    'checkup does not open the live node',
    { 'node/checkup/run.ts': "import { LiveNode } from '../reader/live-node.ts';" },
    'src/node/checkup/run.ts:1 only hosts open the live node',
  ],
  [
    'a fault imports no other fault',
    { 'node/faults/one/diagnose.ts': "import { two } from '../two/diagnose.ts';" },
    'src/node/faults/one/diagnose.ts:1 faults are islands',
  ],
  [
    'checkup knows no particular fault',
    { 'node/checkup/run.ts': "import { one } from '../faults/one/fault.ts';" },
    'src/node/checkup/run.ts:1 faults are islands',
  ],
  [
    'main loads hosts lazily',
    { 'main.ts': "import { host } from './hosts/cli/host.ts';" },
    'src/main.ts:1 main loads hosts lazily',
  ],
  [
    'main loads of node only the reader',
    { 'main.ts': "await import('./node/reader/live-node.ts');" },
    'src/main.ts:1 main loads hosts lazily',
  ],
  ['no unknown module', { 'helpers/text.ts': '' }, 'src/helpers/text.ts:1 no unknown module'],
  ['no file beside main', { 'start.ts': '' }, 'src/start.ts:1 no unknown module'],
])('%s', (_, files, expected) => {
  expect(rulesBroken(files)).toContain(expected);
});

test('cli cannot reach kube through a third module', () => {
  const broken = importViolations(
    tree({
      'hosts/cli/host.ts': "import '../../pipeline/diagnosis/drive.ts';",
      'pipeline/diagnosis/drive.ts': "import '../operations/run.ts';",
      'pipeline/operations/run.ts': "import type { Client } from '../kube/client.ts';",
    }),
  );
  expect(broken).toContainEqual(
    expect.objectContaining({
      rule: 'cli cannot reach kube',
      wrong:
        'src/hosts/cli/host.ts > src/pipeline/diagnosis/drive.ts > src/pipeline/operations/run.ts > src/pipeline/kube/client.ts',
    }),
  );
});

test.each(['hosts/controller', 'hosts/web', 'pipeline/store', 'pipeline/kube'])(
  '%s cannot reach a node through a third module',
  (folder) => {
    const broken = rulesBroken({
      [`${folder}/decide.ts`]: "import '../../pipeline/graph/walk.ts';",
      'pipeline/graph/walk.ts': "import '../../node/repair/perform.ts';",
    });
    const name = folder.replace(/.*\//, '');
    const rule = expect.stringMatching(`^src/${folder}/decide.ts:1 ${name} cannot reach .*repair`);
    expect(broken).toContainEqual(rule);
  },
);

test('a circle of files is reported once', () => {
  const broken = rulesBroken({
    'lib/std/a.ts': "import './b.ts';",
    'lib/std/b.ts': "import type { C } from './c.ts';",
    'lib/std/c.ts': "import './a.ts';",
    'lib/std/outside.ts': "import './a.ts';",
  });
  expect(broken).toEqual(['src/lib/std/a.ts:1 no cycle']);
});

test('tests may import from any module', () => {
  expect(rulesBroken({ 'node/model/fault.test.ts': "import '../repair/perform.ts';" })).toEqual([]);
});

test('the imports of the table have no cycle, and cannot reach forbidden modules', () => {
  const reach = (moduleName: string, way: readonly string[] = []): readonly string[] => {
    if (way.includes(moduleName)) throw new Error(`cycle: ${[...way, moduleName].join(' > ')}`);
    const next = MODULES[moduleName]?.imports ?? [];
    return [...next, ...next.flatMap((other) => reach(other, [...way, moduleName]))];
  };
  for (const moduleName of Object.keys(MODULES)) {
    const reached = new Set(reach(moduleName));
    for (const other of reached) expect(Object.keys(MODULES)).toContain(other);
    for (const forbidden of UNREACHABLE[moduleName] ?? []) expect(reached).not.toContain(forbidden);
  }
});

test('a module imports from its own layer and from lower ones', () => {
  const rank = (layer: Layer | undefined) => (layer ? LAYERS.indexOf(layer) : LAYERS.length);
  for (const { layer, imports } of Object.values(MODULES)) {
    for (const other of imports) {
      expect(rank(MODULES[other]?.layer)).toBeLessThanOrEqual(rank(layer));
    }
  }
});

test('every import and package that the table allows between built modules is used', () => {
  const files = moduleGraph(filesBelow(['src', 'lab'], TYPESCRIPT));
  const isBuilt = (name: string) => files.some(({ moduleName }) => moduleName === name);
  for (const [name, { imports, packages = [] }] of Object.entries(MODULES)) {
    if (!isBuilt(name)) continue;
    const used = files
      .filter(({ moduleName }) => moduleName === name)
      .flatMap((file) => file.imports)
      .map(({ target }) => (target.kind === 'file' ? target.moduleName : nameOf(target)));
    const unused = [...imports.filter(isBuilt), ...packages].filter((each) => !used.includes(each));
    expect({ name, unused }).toEqual({ name, unused: [] });
  }
});

test('tsconfig.pure.json compiles every pure module, and no other', () => {
  const { include } = JSON.parse(readFileSync('tsconfig.pure.json', 'utf8')) as {
    readonly include: readonly string[];
  };
  const pure = Object.keys(MODULES).filter((name) => MODULES[name]?.pure);
  const folders = pure.map(folderOf).filter((folder) => existsSync(folder));
  expect(include.toSorted()).toEqual([...folders, 'types'].toSorted());
});

test('a checker that sees too few files fails', () => {
  expect(importReport([])).toEqual({
    ok: false,
    lines: ['0 files, 0 imports: fewer than 10 files, so nothing is proven'],
  });
  const nine = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`lib/std/${index}.ts`, '']),
  );
  expect(importReport(tree(nine)).ok).toBe(false);
  expect(importReport(tree({ ...nine, 'lib/std/ten.ts': '' }))).toEqual({
    ok: true,
    lines: ['10 files, 0 imports, no rule broken'],
  });
});

test('a break says where, which rule, why, and what to do', () => {
  const files = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`lib/std/${index}.ts`, '']),
  );
  const { ok, lines } = importReport(
    tree({ ...files, 'node/trace/run.ts': "\nimport '../repair/perform.ts';" }),
  );
  expect(ok).toBe(false);
  expect(lines[0]).toMatch(
    /^src\/node\/trace\/run[.]ts:2: allowed imports: trace may not import repair\n {2}to do: ./,
  );
  expect(lines.at(-1)).toBe('10 files, 1 imports, 1 broken');
});

test('a file that cannot be parsed is an error, not an empty file', () => {
  expect(() => importViolations(tree({ 'lib/std/a.ts': 'import {' }))).toThrow('src/lib/std/a.ts');
});
