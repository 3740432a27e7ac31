/**
 * Names for tickets without numbers: each that was handed out gets one of the tickets on sale, the same whenever it is
 * shown. Beyond those there are names that were never on sale, so that a history shows what was sold too often.
 */
export function ticketNames(event: string): (item: string) => string {
  const names = new Map<string, string>();
  return (item) => {
    const name = names.get(item) ?? `${event}#${names.size + 1}`;
    names.set(item, name);
    return name;
  };
}
