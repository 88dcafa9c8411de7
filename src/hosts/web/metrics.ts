/** One value with its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** "_sum", "_count", and "_bucket" of a histogram. */
  readonly suffix?: string;
}

export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function counter(name: string, help: string, given: number | readonly Sample[]): Metric {
  return { ...gauge(name, help, given), type: 'counter' };
}

export function gauge(name: string, help: string, given: number | readonly Sample[]): Metric {
  const samples = typeof given === 'number' ? [{ value: given }] : given;
  return { name, type: 'gauge', help, samples };
}

/** Metrics in the text format of Prometheus. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ labels = {}, value, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}\n`,
      );
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

// {name="a",phase="Running"}
function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
