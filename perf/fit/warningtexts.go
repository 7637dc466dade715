package fit

func WarningTexts(warnings []Warning) []string {
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.Error()
	}
	return texts
}
