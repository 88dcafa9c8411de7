import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const DATA = '..data';

/**
 * Writes a volume as the kubelet writes configMaps, secrets and the like: the files into a new
 * directory named after the time, then a link is swapped to it, then the old directory is removed.
 */
export class AtomicVolume {
  readonly #folder: string;

  /** The directory as the writer sees it, which may be below /proc/<pid>/root. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  write(files: Readonly<Record<string, string>>): void {
    mkdirSync(this.#folder, { recursive: true });
    const older = this.#payloads();
    const payload = payloadName();
    mkdirSync(join(this.#folder, payload));
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.#folder, payload, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    symlinkSync(payload, join(this.#folder, '..data_tmp'));
    renameSync(join(this.#folder, '..data_tmp'), join(this.#folder, DATA));
    this.#showNames(Object.keys(files));
    for (const name of older) rmSync(join(this.#folder, name), { recursive: true });
  }

  /** Whether it contains exactly these files: then a kubelet does not write them again. */
  shows(files: Readonly<Record<string, string>>): boolean {
    const payload = join(this.#folder, DATA);
    if (!existsSync(payload)) return false;
    const there = readdirSync(payload, { recursive: true, withFileTypes: true });
    if (there.filter((entry) => entry.isFile()).length !== Object.keys(files).length) return false;
    return Object.entries(files).every(([name, text]) => {
      const path = join(payload, name);
      return existsSync(path) && readFileSync(path, 'utf8') === text;
    });
  }

  /** The real path of a name now, below the volume's directory: what the kubelet binds. */
  payloadPath(name: string): string {
    return join(readlinkSync(join(this.#folder, DATA)), name);
  }

  #payloads(): readonly string[] {
    return readdirSync(this.#folder).filter((name) => name.startsWith('..2'));
  }

  #showNames(names: readonly string[]): void {
    const firsts = new Set(names.map((name) => name.split('/')[0] ?? ''));
    for (const name of readdirSync(this.#folder)) {
      if (!name.startsWith('..') && !firsts.has(name)) rmSync(join(this.#folder, name));
    }
    for (const name of firsts) {
      const path = join(this.#folder, name);
      rmSync(path, { force: true });
      symlinkSync(join(DATA, name), path);
    }
  }
}

let written = 0;

/** "..2026_11_15_10_22_33.1000000001": two writes in one second have different names. */
function payloadName(): string {
  written += 1;
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:T]/g, '_');
  return `..${time}.${1_000_000_000 + ((process.pid * 1000 + written) % 1_000_000_000)}`;
}
