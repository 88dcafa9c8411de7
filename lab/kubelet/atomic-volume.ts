import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const DATA = '..data';

type Files = Readonly<Record<string, string>>;

/**
 * Writes a volume as the kubelet writes ConfigMaps and Secrets: it writes the files into a new
 * directory named after the time, switches a symbolic link to it, and removes the old directory.
 */
export function writeVolume(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  const older = readdirSync(folder).filter((name) => name.startsWith('..2'));
  const payload = payloadName();
  mkdirSync(join(folder, payload));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, payload, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  symlinkSync(payload, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, DATA));
  showNames(folder, Object.keys(files));
  for (const name of older) rmSync(join(folder, name), { recursive: true });
}

/** Whether a volume contains exactly these files: if so, a kubelet does not write them again. */
export function showsFiles(folder: string, files: Files): boolean {
  const payload = join(folder, DATA);
  if (!existsSync(payload)) return false;
  const there = readdirSync(payload, { recursive: true, withFileTypes: true });
  if (there.filter((entry) => entry.isFile()).length !== Object.keys(files).length) return false;
  return Object.entries(files).every(([name, text]) => {
    const path = join(payload, name);
    return existsSync(path) && readFileSync(path, 'utf8') === text;
  });
}

function showNames(folder: string, names: readonly string[]): void {
  const firsts = new Set(names.map((name) => name.split('/')[0] ?? ''));
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('..') && !firsts.has(name)) rmSync(join(folder, name));
  }
  for (const name of firsts) {
    const path = join(folder, name);
    rmSync(path, { force: true });
    symlinkSync(join(DATA, name), path);
  }
}

let written = 0;

/** "..2026_11_15_10_22_33.1000000001": two writes in one second have different names. */
function payloadName(): string {
  written += 1;
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:T]/g, '_');
  return `..${time}.${1_000_000_000 + ((process.pid * 1000 + written) % 1_000_000_000)}`;
}
