/** "1 pod", "3 pods". Give the plural where it is not the noun with an "s". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
