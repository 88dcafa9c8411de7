import { expect, onTestFinished, test } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { API_VERSION } from '../../pipeline/api/kinds.ts';
import { openMemoryStore } from '../../pipeline/store/sqlite-store.ts';
import type { Store } from '../../pipeline/store/store.ts';
import { StoreError } from '../../pipeline/store/store-error.ts';
import { readAlert } from '../../pipeline/triggers/alert.ts';
import { readCommonEvent } from '../../pipeline/triggers/common-event.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';
import { Intake } from './intake.ts';
import { INTAKES_WAITING_MAX, TRIGGERED_MAX } from './limits.ts';

const HOUR_MS = 3_600_000;

class SyntheticIntake {
  readonly store: Store;
  /** Whole seconds, because a store has no fractions. */
  ms = Math.floor(Date.now() / 1_000) * 1_000;
  intake: Intake;

  constructor() {
    const store = openMemoryStore();
    onTestFinished(() => store.close());
    this.store = store;
    this.intake = this.another();
  }

  another(store = this.store): Intake {
    const here = { nodeName: 'my-node', otherNames: [] };
    return new Intake({ store, here, repeatMs: HOUR_MS, now: () => new Date(this.ms) });
  }

  trigger(name: string, spec: object = {}): Promise<unknown> {
    const alerts = { regexp: { alertName: '^Down$' }, nodeNameReferenceLabel: 'node' };
    return this.store.create({
      apiVersion: API_VERSION,
      kind: 'Trigger',
      metadata: { name },
      spec: { operationSet: 'set', sourceTemplate: { prometheusAlertTemplate: alerts }, ...spec },
    });
  }

  async names(): Promise<readonly string[]> {
    const { items } = await this.store.list('Diagnosis', { namespace: 'kubediag' });
    return items.map(({ metadata }) => metadata.name);
  }
}

function alert(labels: object = {}, more: object = {}): TriggerEvent {
  const given = { labels: { alertname: 'Down', node: 'my-node', ...labels }, ...more };
  const read = readAlert(given, new Date());
  if (!read.ok) throw new Error(read.why);
  return { source: 'prometheusAlertTemplate', what: read.value };
}

type Taken = Awaited<ReturnType<Intake['takeIn']>>;

function handled(taken: Taken) {
  if ('unavailable' in taken) throw new Error(taken.unavailable);
  return taken;
}

const notesOf = (taken: Taken) => handled(taken).flatMap(({ notes }) => notes);

test('all matching Triggers create a Diagnosis, in the order of their names', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('b');
  await fixture.trigger('a');
  await fixture.trigger('c', {
    sourceTemplate: { prometheusAlertTemplate: { regexp: { alertName: 'Other' } } },
  });
  const [taken] = handled(await fixture.intake.takeIn([alert()]));
  const [first = '', second] = taken?.diagnoses ?? [];
  expect(second).toBe(`${first}-2`);
  const { items } = await fixture.store.list('Diagnosis', { namespace: 'kubediag' });
  const triggers = items.map(({ metadata }) => [
    metadata.name,
    metadata.annotations?.['diagnosis.kubediag.org/trigger'],
  ]);
  expect(triggers).toEqual([
    [first, 'a'],
    [second, 'b'],
  ]);
});

test('all alerts of the same second are stored', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  const many = Array.from({ length: 50 }, (_, at) => alert({ volume: `v${at}` }));
  await fixture.intake.takeIn(many);
  expect(await fixture.names()).toHaveLength(50);
});

test('all events of the same second and class are stored', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('e', { nodeName: 'my-node', sourceTemplate: { commonEventTemplate: {} } });
  for (const summary of ['one', 'two', 'two']) {
    const read = readCommonEvent({ summary, class: 'Load' });
    if (!read.ok) throw new Error(read.why);
    await fixture.intake.takeIn([{ source: 'commonEventTemplate', what: read.value }]);
  }
  const name = `common-event.load.${fixture.ms / 1_000}`;
  expect(await fixture.names()).toEqual([name, `${name}-2`]);
});

test('a repeated alert is ignored until the interval has passed, also after a restart', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  await fixture.intake.takeIn([alert()]);
  expect(notesOf(await fixture.intake.takeIn([alert()]))).toEqual([
    `Trigger a: repeated: it created a Diagnosis at ${new Date(fixture.ms).toISOString()}`,
  ]);
  expect(notesOf(await fixture.another().takeIn([alert()]))).toHaveLength(1);
  expect(await fixture.names()).toHaveLength(1);
  // Another alert is another matter, and so is a Trigger that came later.
  await fixture.intake.takeIn([alert({ disk: 'sda' })]);
  expect(await fixture.names()).toHaveLength(2);
  await fixture.trigger('b');
  await fixture.intake.takeIn([alert()]);
  expect(await fixture.names()).toHaveLength(3);
  fixture.ms += HOUR_MS;
  await fixture.intake.takeIn([alert()]);
  expect(await fixture.names()).toHaveLength(5);
});

test('the same alert of two senders creates one Diagnosis', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  await Promise.all(Array.from({ length: 5 }, () => fixture.intake.takeIn([alert()])));
  expect(await fixture.names()).toHaveLength(1);
});

test('too many concurrent requests are rejected as unavailable', async () => {
  const fixture = new SyntheticIntake();
  const asked = Array.from({ length: INTAKES_WAITING_MAX + 1 }, () => fixture.intake.takeIn([]));
  const answers = await Promise.all(asked);
  expect(answers.filter((each) => 'unavailable' in each)).toHaveLength(1);
  expect(await fixture.intake.takeIn([])).toEqual([]);
});

test.each([
  ['resolved', alert({}, { status: 'resolved' }), 'resolved: nothing to do'],
  ['for nobody', alert({ alertname: 'Up' }), 'no Trigger matches'],
  [
    'of another node',
    alert({ node: '1.2.3.4:9100' }),
    'Trigger a: node "1.2.3.4:9100": not this node (this is my-node); send the event to the agent there. If that is another name of this node, start serve with --node-name',
  ],
  [
    'of no node',
    alert({ node: '' }),
    expect.stringContaining('Trigger a: the event names no node'),
  ],
])('an alert that is %s creates nothing, and the note says why', async (_, given, note) => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  expect(notesOf(await fixture.intake.takeIn([given]))).toEqual([note]);
  expect(await fixture.names()).toEqual([]);
});

test('a Trigger with an invalid pattern is reported, and the others work', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a', {
    nodeName: 'my-node',
    sourceTemplate: { prometheusAlertTemplate: { regexp: { alertName: '(Down' } } },
  });
  await fixture.trigger('b');
  const taken = await fixture.intake.takeIn([alert()]);
  expect(notesOf(taken)).toEqual(['Trigger a: error parsing regexp: missing closing ): `(Down`']);
  expect(handled(taken)[0]?.diagnoses).toHaveLength(1);
});

test('a failing store is reported, and repeated alerts create one Diagnosis', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  let free = 1;
  const full = storeWith(fixture.store, {
    create: (object) => {
      if (free === 0) throw new StoreError('ServiceUnavailable', 'the disk is full');
      free -= 1;
      return fixture.store.create(object);
    },
  });
  const intake = fixture.another(full);
  const both = [alert({ disk: 'sda' }), alert({ disk: 'sdb' })];
  await expect(intake.takeIn(both)).rejects.toThrow('the disk is full');
  free = 5;
  const again = handled(await intake.takeIn(both));
  expect(again.map(({ diagnoses }) => diagnoses.length)).toEqual([0, 1]);
  expect(await fixture.names()).toHaveLength(2);
});

test('alerts that take too long are rejected as unavailable, and their Diagnoses stay', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  const intake = new Intake({
    store: fixture.store,
    here: { nodeName: 'my-node', otherNames: [] },
    repeatMs: HOUR_MS,
    now: () => {
      fixture.ms += 4_000;
      return new Date(fixture.ms);
    },
  });
  const disks = ['a', 'b', 'c', 'd'].map((disk) => alert({ disk }));
  expect(await intake.takeIn(disks)).toEqual({
    unavailable: expect.stringContaining('compared 2 of 4 events in 10s'),
  });
  expect(await fixture.names()).toHaveLength(2);
});

test('many alerts reach a limit until the interval has passed', async () => {
  const fixture = new SyntheticIntake();
  await fixture.trigger('a');
  const storm = Array.from({ length: TRIGGERED_MAX }, (_, at) => alert({ volume: `v${at}` }));
  await fixture.intake.takeIn(storm);
  const one = [alert({ volume: 'another' })];
  expect(await fixture.intake.takeIn(one)).toEqual({
    unavailable: expect.stringContaining(`created ${TRIGGERED_MAX} Diagnoses`),
  });
  expect(notesOf(await fixture.intake.takeIn(storm.slice(0, 1)))).toHaveLength(1);
  fixture.ms += HOUR_MS;
  expect(await fixture.intake.takeIn(one)).toMatchObject([{ diagnoses: [expect.any(String)] }]);
});
