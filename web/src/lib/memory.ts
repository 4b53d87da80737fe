/* Small choices kept on this device. Storage may be forbidden; then nothing is remembered and nothing breaks. */

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`mire.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`mire.${key}`, value);
  } catch {
    /* Nothing to do: the choice lasts as long as the page. */
  }
}
