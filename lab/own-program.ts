import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { isSea } from 'node:sea';
import type { LabSettings } from './settings.ts';

/** The file of this program, and the directory of its sources if it runs from them. */
export function ownProgram(): { readonly file: string; readonly sources: string } {
  const [, script = ''] = process.argv;
  return { file: process.execPath, sources: isSea() ? '' : join(realpathSync(script), '../..') };
}

/** The programs of the machine that a practice node runs, which have to be mounted there. */
export function programsFor({
  runtime,
  kubelet,
}: Pick<LabSettings, 'runtime' | 'kubelet'>): readonly string[] {
  const kubelets = kubelet.kind === 'real' ? [kubelet.program] : [];
  if (runtime.kind === 'stand-in') return kubelets;
  const { containerd, runc } = runtime;
  const beside = ['containerd-shim-runc-v2', 'ctr'].map((name) => join(dirname(containerd), name));
  return [...kubelets, containerd, runc, ...beside.filter(existsSync)];
}

/** The name or path by which the user runs this program. */
export function calledHere(): string {
  return calledAs(ownProgram().file, { path: process.env.PATH ?? '', folder: process.cwd() });
}

/** The name or path by which a user runs this program, so that a suggested command works. */
export function calledAs(
  file: string,
  { path, folder }: { readonly path: string; readonly folder: string },
): string {
  const name = basename(file);
  const isFound = path.split(':').some((each) => isAbsolute(each) && existsSync(join(each, name)));
  if (isFound) return name;
  const near = relative(folder, file);
  if (near.startsWith('..')) return file;
  return near.includes('/') ? near : `./${near}`;
}
