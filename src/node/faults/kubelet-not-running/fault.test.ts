import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn, fixtureAt } from '../../../../test/fault-fixtures.ts';
import { nodes, optionalReads } from '../../../../test/faults/kubelet-not-running.ts';
import { replayCheck } from '../../checkup/replay.ts';
import { redactAnswers } from '../../redaction/redact.ts';
import { redactionRules } from '../index.ts';
import { kubeletNotRunning } from './fault.ts';

describeFault(kubeletNotRunning, { nodes: nodes(), optionalReads });

test.each(Object.keys(nodes()))(
  'what may leave the node %s still says how the kubelet ended',
  async (name) => {
    const bundle = await fixtureAt(`kubelet-not-running/${name}`);
    const { clock, answers } = bundle.recording;
    const safe = {
      ...bundle,
      recording: { clock, answers: redactAnswers(answers, redactionRules) },
    };
    const [all, redactedReport] = await Promise.all(
      [bundle, safe].map((each) => replayCheck(each, [kubeletNotRunning], undefined)),
    );
    const gist = (report: typeof all) =>
      report?.faults.map(({ verdict, findings }) => [verdict, findings.map((one) => one.summary)]);
    expect(gist(redactedReport)).toEqual(gist(all));
  },
);

test('a line of another process that was killed for memory is no proof', async () => {
  const reported = JSON.stringify(await answerOn(kubeletNotRunning, 'active-out-of-memory'));
  expect(reported).toContain('Killed process 812 (kubelet)');
  expect(reported).not.toContain('(java)');
});

test.each([
  ['active-first-crash', 'KubeletCrashed', 'systemd starts it again in a moment'],
  ['active-crash-loop', 'KubeletCrashLoop', '5 restarts so far'],
  ['active-crash-loop-without-journal', 'KubeletCrashLoop', '5 restarts so far'],
  ['active-crash-loop-in-a-full-journal', 'KubeletCrashLoop', 'ended with an error 3 times'],
  [
    'active-stopped-after-a-volume-failed',
    'KubeletStopped',
    'kubelet.service has been stopped since',
  ],
  ['active-stopped-with-an-error', 'KubeletStopped', 'k3s.service has been stopped since'],
  ['active-root-elsewhere', 'KubeletCrashed', 'it exited with code 1'],
])('on %s the reason is %s', async (name, reason, text) => {
  const { findings } = await answerOn(kubeletNotRunning, name);
  expect(findings[0]).toMatchObject({ reason, summary: expect.stringContaining(text) });
});

test('an error of a volume is no reason of the end of the kubelet', async () => {
  const name = 'active-stopped-after-a-volume-failed';
  const { findings } = await answerOn(kubeletNotRunning, name);
  const claims = findings[0]?.proof.map(({ claim }) => claim);
  expect(claims).not.toContain('it logged why it cannot continue');
});

test('where systemd has no unit of a kubelet, no command names one', async () => {
  const { findings } = await answerOn(kubeletNotRunning, 'active-without-unit');
  expect(JSON.stringify(findings)).not.toMatch(/systemctl (?:start|restart|status)/);
});

test('a finding says that systemd could not be asked', async () => {
  const { findings } = await answerOn(kubeletNotRunning, 'active-without-systemd');
  expect(findings[0]?.proof).toContainEqual(
    expect.objectContaining({ claim: 'systemd could not be asked' }),
  );
});

test('the report lists a denied read of the processes of the node as a failure', async () => {
  expect(await answerOn(kubeletNotRunning, 'unclear-not-root')).toMatchObject({
    failures: ['denied'],
  });
});
