import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SourceFile {
  /** From the root of the project, with forward slashes: "src/node/model/evidence.ts". */
  readonly path: string;
  readonly text: string;
}

/** All files below some directories whose path matches, read; a directory that does not exist has none. */
export function filesBelow(folders: readonly string[], matches: RegExp): readonly SourceFile[] {
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    )
    .filter((path) => matches.test(path) && !path.includes('node_modules/'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

// src/node/model/evidence.ts and src/console/diagnosis/DiagnosisPage.tsx
export const TYPESCRIPT = /[.]tsx?$/;

// src/node/evidence/mounts/mount-table.kernel.test.ts
const TEST = /[.]test[.]tsx?$/;

// src/node/reader/contract.ts: a suite that several tests run
const CONTRACT = /(^|[/-])contract[.]ts$/;

/** Code that only tests run. It may import from any module, and no product code may import it. */
export function isTestCode(path: string): boolean {
  return TEST.test(path) || CONTRACT.test(path) || path.startsWith('test/');
}

/** Written by `npm run generate`, so no rule of style is held against it. */
export function isGenerated(path: string): boolean {
  return path.includes('/generated/');
}

/** The line, counted from 1, on which a character stands. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
