/**
 * Names tickets without numbers: each sold item gets the name of one of the tickets on sale, always
 * the same one. Further items get names that were never on sale, so that a history shows oversold
 * tickets.
 */
export function ticketNames(event: string): (item: string) => string {
  const names = new Map<string, string>();
  return (item) => {
    const name = names.get(item) ?? `${event}#${names.size + 1}`;
    names.set(item, name);
    return name;
  };
}
