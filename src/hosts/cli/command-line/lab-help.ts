import { type CommandHelp, PRINTED } from './command-help.ts';

const BY_LAB = { 0: 'done', 3: 'refused, with the reason' };

/** Help of the practice node, by both words of a command. */
export const LAB_HELP: Readonly<Record<string, CommandHelp>> = {
  lab: {
    examples: [
      ['See each fault made, found and repaired', 'kubediag lab tour'],
      [
        'Make a practice node and break it',
        'kubediag lab up && kubediag lab break stale-subpath-mount',
      ],
      ['Check it', 'kubediag lab run kubediag check'],
    ],
    exitCodes: BY_LAB,
  },
  'lab tour': {
    examples: [
      ['Go through all faults, step by step', 'kubediag lab tour'],
      ['Go through them without waiting for Enter', 'kubediag lab tour --yes'],
    ],
    exitCodes: BY_LAB,
  },
  'lab up': {
    examples: [
      ['Make a practice node', 'kubediag lab up'],
      [
        'Make a second one with a newer kubelet',
        'kubediag lab up --name new --kubelet-version v1.36.3',
      ],
    ],
    exitCodes: BY_LAB,
  },
  'lab run': {
    examples: [
      ['Check the practice node', 'kubediag lab run kubediag check'],
      ['Look around on it', 'kubediag lab run sh'],
    ],
    exitCodes: { 0: 'or any other: the exit code of the command that it ran' },
  },
  'lab break': {
    examples: [
      ['List the faults and variants that it can make', 'kubediag lab break'],
      ['Make one', 'kubediag lab break stale-subpath-mount'],
      ['Make another form of it', 'kubediag lab break stale-subpath-mount --variant secret-active'],
    ],
    exitCodes: BY_LAB,
  },
  'lab heal': {
    examples: [
      ['Undo what was broken', 'kubediag lab heal'],
      ['Undo it on another practice node', 'kubediag lab heal --name new'],
    ],
    exitCodes: BY_LAB,
  },
  'lab exam': {
    examples: [
      ['Make, check and repair every fault', 'kubediag lab exam'],
      ['Do so for one fault', 'kubediag lab exam stale-subpath-mount'],
    ],
    exitCodes: { 0: 'every case passed', 1: 'a case failed', 3: 'refused, with the reason' },
  },
  'lab serve': {
    examples: [
      ['Run an agent on the practice node', 'kubediag lab serve'],
      ['Run it on another port', 'kubediag lab serve --listen 127.0.0.1:9000'],
    ],
    exitCodes: BY_LAB,
  },
  'lab list': {
    examples: [
      ['List the practice nodes', 'kubediag lab list'],
      ['Remove one of them', 'kubediag lab down --name new'],
    ],
    exitCodes: PRINTED,
  },
  'lab down': {
    examples: [
      ['Remove the practice node', 'kubediag lab down'],
      ['Remove all of them', 'kubediag lab down --all'],
    ],
    exitCodes: BY_LAB,
  },
};
