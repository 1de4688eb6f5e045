// Light or dark: as the system has it, until somebody chooses otherwise.
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";
const CHOICE = "penstock.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | undefined {
  const value = localStorage.getItem(CHOICE);
  return value === "light" || value === "dark" ? value : undefined;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(chosen() ?? (system.matches ? "dark" : "light"));
  document.documentElement.dataset.theme = theme;
  useEffect(() => {
    const follow = () => chosen() ?? setTheme(system.matches ? "dark" : "light");
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  return [
    theme,
    (wanted) => {
      localStorage.setItem(CHOICE, wanted);
      setTheme(wanted);
    },
  ];
}
