/** A seed that the environment may give, so that what went wrong once can be tried again. */
export function seedGiven(): number {
  const { KUBEDIAG_TEST_SEED: given } = process.env;
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

/** Numbers from 0 to 1, the same ones for the same seed (Mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** So many moments of a time from 0 to 1, one in each equal part of it, in no order. */
export function momentsOf(count: number, random: () => number): readonly number[] {
  return Array.from({ length: count }, (_, part) => ({
    moment: (part + random()) / count,
    place: random(),
  }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ moment }) => moment);
}
