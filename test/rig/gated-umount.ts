import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PracticeNode } from './practice-node.ts';

/** Where an unmount can be held: when it is asked what it can, before it acts, after it acted. */
export type Gate = 'help' | 'before' | 'after';

const PLACES = ['/usr/bin/umount', '/bin/umount'];
const CHECK_INTERVAL_MS = 10;
const REACHED_MS_MAX = 20_000;

/**
 * Stands in front of the node's umount, on this node alone, and can be held at a gate, so that a
 * test has time to interrupt its caller. It counts what was unmounted.
 */
export class GatedUmount {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async install(node: PracticeNode): Promise<GatedUmount> {
    const folder = join(node.scratch, 'umount');
    mkdirSync(folder);
    const [program, real] = [join(folder, 'umount'), join(folder, 'real')];
    copyFileSync(PLACES.find((place) => existsSync(place)) ?? '', real);
    const script = `#!/bin/sh
gate() {
  [ -e ${folder}/$1 ] || return 0
  echo > ${folder}/$1.reached
  while [ -e ${folder}/$1 ]; do sleep 0.02; done
}
case "$*" in *--help*) gate help; exec ${real} --help;; esac
echo "$*" >> ${folder}/asked
gate before
# A kill between the two would lose the count.
trap "" TERM
${real} "$@" && echo "$*" >> ${folder}/done
code=$?
gate after
exit $code
`;
    writeFileSync(program, script, { mode: 0o755 });
    // With /bin and /usr/bin in one, the second goes over the first, which does no harm.
    for (const place of PLACES.filter((path) => existsSync(path))) {
      await node.run('mount', '--bind', program, place);
    }
    return new GatedUmount(folder);
  }

  close(gate: Gate): void {
    writeFileSync(join(this.#folder, gate), '');
  }

  open(gate: Gate): void {
    rmSync(join(this.#folder, gate), { force: true });
  }

  /** Resolves when somebody waits at the gate. */
  async reached(gate: Gate): Promise<void> {
    const deadline = Date.now() + REACHED_MS_MAX;
    while (!existsSync(join(this.#folder, `${gate}.reached`))) {
      if (Date.now() > deadline) throw new Error(`nobody came to the gate ${gate}`);
      await sleep(CHECK_INTERVAL_MS);
    }
    rmSync(join(this.#folder, `${gate}.reached`));
  }

  /** What was really unmounted, one line each. */
  get unmounted(): readonly string[] {
    return this.#lines('done');
  }

  /** What it was asked to unmount, whatever came of it. */
  get asked(): readonly string[] {
    return this.#lines('asked');
  }

  #lines(name: string): readonly string[] {
    const file = join(this.#folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }
}
