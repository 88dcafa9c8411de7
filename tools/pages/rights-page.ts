import { controllerStepsActions } from '../rights/controller-steps-actions.ts';
import { rightsTable } from '../rights/rights-table.ts';
import { subjectIds, subjects } from '../rights/subjects.ts';
import { tableOf } from './markdown.ts';

/** docs/reference/rights.md: who may do what on a cluster. A test tries every cell. */
export function rightsPage(): string {
  const people = subjectIds.map((id) => [subjects[id].title, subjects[id].what]);
  const groups = [...rightsTable, controllerStepsActions].map(({ title, actions }) => {
    const rows = actions.map(({ what, may }) => [
      what,
      ...subjectIds.map((id) => (may.includes(id) ? 'yes' : '')),
    ]);
    return `## ${title}\n\n${tableOf(['action', ...subjectIds.map((id) => subjects[id].title)], rows)}`;
  });
  return [
    '# Who may do what\n',
    'Rights after `kubectl apply -f deploy/kubediag.yaml`. The last table is with `deploy/controller-steps.yaml` too.\n' +
      '`test/cluster/rights.apiserver.test.ts` sends a request to a real API server for every cell. [Rights](../rights.md) says why.\n',
    tableOf(['subject', 'is'], people),
    ...groups,
  ].join('\n');
}
