module lamprey-bench-go

go 1.22
