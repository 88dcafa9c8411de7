import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { mountLine } from '../rig/faulty-node.ts';
import { makeHung } from '../rig/hung-volume.ts';
import { atTerminal } from '../rig/run-in-terminal.ts';

const FAULT = 'dead-volume-mount';

/** What a person sees who waits for a mount that does not answer. */
describe('the screen of a node with a hung mount', () => {
  it('names what it waits for and for how long, and lists abandoned processes last', async () => {
    const { node, target } = await makeHung('kubernetes.io~nfs/share', { loop: 'failing' });
    const { stdout, code } = await atTerminal(node, ['check']).end;
    expect(code, stdout).toBe(1);
    const waits = [...stdout.matchAll(/waiting for (\S+) \((\d) of (\d) s\)/g)];
    const share = waits.filter(([, name]) => name?.endsWith('/volumes/kubernetes.io~nfs/share'));
    expect(share.map(([, name]) => name?.startsWith('…/'))).not.toContain(false);
    // The first try has two seconds, and the second four more.
    expect(share.map(([, , , limit]) => limit)).toContain('6');
    expect(share.map(([, , spent]) => Number(spent)).filter((spent) => spent >= 3)).not.toEqual([]);

    const shown = stripVTControlCharacters(stdout);
    const answer = shown.indexOf(`1 fault, 1 finding: ${FAULT} 1`);
    const left = shown.indexOf('abandoned: reader process ');
    expect(answer).toBeGreaterThan(0);
    expect(left).toBeGreaterThan(shown.indexOf('other faults were not checked'));
    expect(shown).toContain(mountLine(node, target)?.split(' ')[4] ?? 'no mount');
  });

  it('a recovery lists abandoned processes after its result', async () => {
    const { node } = await makeHung('kubernetes.io~nfs/share', { loop: 'failing' });
    const { stdout, stderr } = await node.kubediag('recover', FAULT, '--dry-run');
    expect(stdout).toMatch(/^Repairing 1 active finding of dead-volume-mount will change /);
    expect(stderr).toMatch(/dry run: nothing was changed\nabandoned: reader process /);
  });
});
