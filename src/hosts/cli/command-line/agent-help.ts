import type { CommandHelp } from './command-help.ts';

const BY_AGENT = { 0: 'done', 3: 'the agent refused it, or cannot be reached' };

/** Help of the agent, and of the commands that talk to it. */
export const AGENT_HELP: Readonly<Record<string, CommandHelp>> = {
  serve: {
    examples: [
      ['Run the agent of this node until Ctrl-C', 'kubediag serve'],
      ['Listen on another port', 'kubediag serve --listen 127.0.0.1:9000'],
    ],
    exitCodes: { 0: 'stopped by a signal', 3: 'it could not start, or not go on' },
  },
  apply: {
    examples: [
      ['Create or update what a file says', 'kubediag apply -f diagnosis.yaml'],
      ['Do so for a folder', 'kubediag apply -f manifests/'],
    ],
    exitCodes: BY_AGENT,
  },
  get: {
    examples: [
      ['List the Diagnoses', 'kubediag get diagnoses'],
      ['Show two of them as YAML', 'kubediag get diagnosis/web diagnosis/db -o yaml'],
      ['Print their names alone', "kubediag get diag -o jsonpath='{.items[*].metadata.name}'"],
    ],
    exitCodes: BY_AGENT,
  },
  describe: {
    examples: [
      ['Show what a Diagnosis found and did', 'kubediag describe diagnosis/web'],
      ['Show all Diagnoses with a label', 'kubediag describe diagnoses -l app=web'],
    ],
    exitCodes: BY_AGENT,
  },
  wait: {
    examples: [
      [
        'Wait until a Diagnosis has a result, whichever it is, or waits for approval',
        "kubediag wait diagnosis/web --for=jsonpath='{.status.result}' --timeout=5m",
      ],
      [
        'Wait for one result; any other runs into the timeout',
        "kubediag wait diagnosis/web --for=jsonpath='{.status.result}'=Repaired --timeout=5m",
      ],
      ['Wait until it is deleted', 'kubediag wait diagnosis/web --for=delete'],
    ],
    exitCodes: {
      0: 'the condition is met',
      1: 'the time is over, or nothing matches',
      3: 'there is no such object, or the agent cannot be reached',
    },
  },
  approve: {
    examples: [
      ['Show the plan of a Diagnosis and ask', 'kubediag approve web'],
      [
        'Approve the plan that you have seen, in a script',
        'kubediag approve diagnosis/web --plan 3f9a1c',
      ],
    ],
    exitCodes: { 0: 'approved', 3: 'not approved: declined, no plan or another one, or no agent' },
  },
  cancel: {
    examples: [
      ['Cancel a Diagnosis', 'kubediag cancel web'],
      ['Cancel two of another namespace', 'kubediag cancel diagnosis/web diagnosis/db -n shop'],
    ],
    exitCodes: { 0: 'cancelled', 3: 'it has ended already, or the agent cannot be reached' },
  },
  fetch: {
    examples: [
      ['See which results there are', 'kubediag describe diagnosis/web'],
      ['Download one to a file', 'kubediag fetch web operation.profile.output cpu.pprof'],
    ],
    exitCodes: { 0: 'written', 3: 'there is no such result, or the agent cannot be reached' },
  },
  delete: {
    examples: [
      ['Delete two Diagnoses', 'kubediag delete diagnosis web db'],
      ['Delete what a file names', 'kubediag delete -f diagnosis.yaml'],
      ['Delete all Diagnoses of a namespace', 'kubediag delete diagnoses --all -n shop'],
    ],
    exitCodes: BY_AGENT,
  },
};
