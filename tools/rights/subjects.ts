import { PEOPLE_ROLES } from '../../src/pipeline/api/cluster-names.ts';

/** Where those work who have rights in one namespace only. */
export const TEAM = 'team-a';
export const OTHER_TEAM = 'team-b';

interface Person {
  /** ClusterRoles that are bound in the namespace TEAM. */
  readonly inTeam?: readonly string[];
  /** Those that are bound in the whole cluster. */
  readonly inCluster?: readonly string[];
}

interface Subject extends Person {
  /** The head of its column. */
  readonly title: string;
  readonly what: string;
}

/** Who is asked for. */
export const subjects = {
  agent: {
    title: 'agent',
    what: 'the agent of node-a, with the token of its pod',
  },
  executor: {
    title: 'executor',
    what: 'the executor of a node, which has no token',
  },
  controller: {
    title: 'controller',
    what: 'the controller',
  },
  viewer: {
    title: 'viewer',
    what: `a person with the role \`view\` in the namespace ${TEAM}`,
    inTeam: ['view'],
  },
  editor: {
    title: 'editor',
    what: `a person with the role \`edit\` in the namespace ${TEAM}`,
    inTeam: ['edit'],
  },
  recoverer: {
    title: 'editor who may recover',
    what: `the same with \`${PEOPLE_ROLES.recover}\` in that namespace`,
    inTeam: ['edit', PEOPLE_ROLES.recover],
  },
  approver: {
    title: 'approver',
    what: `a person with \`${PEOPLE_ROLES.approve}\` in the namespace ${TEAM}`,
    inTeam: [PEOPLE_ROLES.approve],
  },
  operator: {
    title: 'editor who may recover, and diagnose nodes',
    what: `the same with \`${PEOPLE_ROLES.diagnoseNodes}\` in the whole cluster`,
    inTeam: ['edit', PEOPLE_ROLES.recover],
    inCluster: [PEOPLE_ROLES.diagnoseNodes],
  },
  onCall: {
    title: 'on call',
    what:
      `a person with the role \`edit\` in the namespace ${TEAM}, and with \`${PEOPLE_ROLES.diagnoseNodes}\` ` +
      `and \`${PEOPLE_ROLES.recover}\` in the whole cluster`,
    inTeam: ['edit'],
    inCluster: [PEOPLE_ROLES.diagnoseNodes, PEOPLE_ROLES.recover],
  },
  admin: {
    title: 'admin',
    what: `a person with \`${PEOPLE_ROLES.admin}\` in the whole cluster`,
    inCluster: [PEOPLE_ROLES.admin],
  },
  nobody: {
    title: 'others',
    what: 'a person without any role',
  },
} as const satisfies Readonly<Record<string, Subject>>;

export type SubjectId = keyof typeof subjects;

export const subjectIds = Object.keys(subjects) as readonly SubjectId[];

/** The roles of a subject that is a person. */
export function rolesOf(id: SubjectId): Required<Person> {
  const { inTeam = [], inCluster = [] }: Subject = subjects[id];
  return { inTeam, inCluster };
}
