/**
 * Applies an operation to every item, at most so many at a time. The results are in the order of the
 * items. After the first failure no further item is taken.
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnceMax: number,
  operation: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = inTurn(items);
  const takeNext = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await operation(item);
  };
  await Promise.all(Array.from({ length: atOnceMax }, takeNext));
  return results;
}

/** A loop that fails closes a generator, so the other loops over it end too. An array iterator goes on. */
function* inTurn<T>(items: readonly T[]) {
  yield* items.entries();
}
