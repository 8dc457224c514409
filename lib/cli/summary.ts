export async function summarize(_logs: readonly string[]): Promise<void> {}
