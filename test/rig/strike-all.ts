/** When one fails, the others finish first: each works on a node. */
export async function allOf<T>(running: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

/** Each node takes the next blow when it is done with one. Gives what came of all. */
export async function strikeAll<Trial, Blow, Result>(
  trials: readonly Trial[],
  blows: readonly Blow[],
  strike: (trial: Trial, blow: Blow) => Promise<Result>,
): Promise<readonly Result[]> {
  const left = [...blows];
  const results: Result[] = [];
  const strikeOne = async (trial: Trial) => {
    for (let blow = left.shift(); blow !== undefined; blow = left.shift()) {
      results.push(await strike(trial, blow));
    }
  };
  await allOf(trials.map((trial) => strikeOne(trial).finally(() => left.splice(0))));
  return results;
}
