import { expect, test } from 'vitest';
import { metricsText } from './metrics.ts';

test('writes metrics in the format of Prometheus', () => {
  const text = metricsText([
    { name: 'a_total', type: 'counter', help: 'How many.', samples: [{ value: 3 }] },
    {
      name: 'b_seconds',
      type: 'summary',
      help: 'How long.',
      samples: [
        { labels: { operation: 'say "a\\b"\n' }, value: 1.5, suffix: '_sum' },
        { labels: { operation: 'x', node: 'y' }, value: 2, suffix: '_count' },
      ],
    },
  ]);
  expect(text).toBe(`# HELP a_total How many.
# TYPE a_total counter
a_total 3
# HELP b_seconds How long.
# TYPE b_seconds summary
b_seconds_sum{operation="say \\"a\\\\b\\"\\n"} 1.5
b_seconds_count{operation="x",node="y"} 2
`);
});
