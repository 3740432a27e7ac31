/** The requests of the page to its server, apart from the stores. */

/** Cuts or repairs the line between Dublin and Sydney, for all visitors. */
export async function setLine(action: 'cut' | 'repair'): Promise<void> {
  await post(action);
}

/** Returns the number of a writer of comments. */
export async function getWriter(): Promise<number> {
  return ((await post('writer')) as { readonly writer: number }).writer;
}

async function post(path: string): Promise<unknown> {
  const response = await fetch(path, { method: 'POST' });
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status}`);
  return await response.json();
}
