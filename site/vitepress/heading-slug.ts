/**
 * Returns the anchor that GitHub gives a heading, so that links of pages work on both, such as
 * `#final_failed`.
 */
export function toHeadingSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}
