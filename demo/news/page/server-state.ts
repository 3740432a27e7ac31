/** What the page asks of its server beside the stores. */

/** Cuts or repairs the line between Dublin and Sydney, for all visitors. */
export async function setLine(action: 'cut' | 'repair'): Promise<void> {
  await post(action);
}

/** A number to write comments under. */
export async function getWriter(): Promise<number> {
  return ((await post('writer')) as { readonly writer: number }).writer;
}

async function post(path: string): Promise<unknown> {
  const response = await fetch(path, { method: 'POST' });
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status}`);
  return await response.json();
}
